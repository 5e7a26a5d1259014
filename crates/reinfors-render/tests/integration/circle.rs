//! Circles, the plain surface against pictures recorded from pygame-ce 2.5.8: radii that fit, and radii that
//! do not.

use reinfors_render::{Colour, Point, Scene, Size, Surface};

/// Radius, column of the centre, and the FNV-1a hash of the 64x48 picture's bytes.
#[rustfmt::skip]
const RECORDED: [(i32, i32, u64); 30] = [
    (0, 31, 0xC46C1E76E9914C5B),
    (1, 31, 0x98EBD4D6F70E30C4),
    (2, 31, 0x8C864D36C1C2DD93),
    (3, 31, 0x298428CC24A590E4),
    (4, 31, 0xC6B80BA19D8C8223),
    (5, 31, 0x6C6D679EDA9CA6BC),
    (6, 31, 0x05E2A7F7898B368B),
    (7, 31, 0x640C40BA8D328570),
    (8, 31, 0x8CC3016C302AC3E3),
    (9, 31, 0x6D55CFD91981B90C),
    (10, 31, 0x93EF79851794440B),
    (11, 31, 0x103B919E4AA94940),
    (12, 31, 0xB864F160CA66F63F),
    (13, 31, 0x20D2BD2140BC3A14),
    (14, 31, 0xDA6027B626201CCF),
    (15, 31, 0x872C394DA0083BBC),
    (16, 31, 0xD7E42EF05282D667),
    (17, 31, 0x823FE5AA12F2730C),
    (18, 31, 0x72391C69048034AF),
    (19, 31, 0x72D78558ED1BCF38),
    (20, 31, 0x614F9794D5F979EB),
    (21, 31, 0x2E6F9CDFB7054CF8),
    (22, 31, 0xEEBEC9F904098B3B),
    (23, 31, 0x0047C1CC92521FA8),
    (24, 31, 0xECE7BBBBCAA42D85),
    (40, 31, 0xB989EBCAD4737325),
    (60, 31, 0xB989EBCAD4737325),
    (200, -164, 0xF02A657789F50382),
    (600, -564, 0xCB8296EEB625F315),
    (1000, -964, 0xCB8296EEB625F315),
];

const RING_AND_DISC: Colour = Colour::rgb([129, 132, 203]);

fn drawn(draw: impl FnOnce(&mut Scene)) -> Vec<u8> {
    let size = Size::new(64, 48);
    let mut scene = Scene::new(size);
    scene.background(Colour::rgb([10, 200, 90]));
    scene.rectangle(Point::new(0, 24), Point::new(63, 47), Colour::grey(255));
    draw(&mut scene);
    let mut surface = Surface::new(size);
    surface.draw(&scene);
    surface.pixels().iter().flat_map(|pixel| pixel.channels()).collect()
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

#[test]
fn circles_equal_pygame_at_every_radius() {
    for &(radius, column, hash) in &RECORDED {
        let picture = drawn(|scene| scene.aa_circle(Point::new(column, 23), radius, RING_AND_DISC));
        assert_eq!(fnv(&picture), hash, "radius {radius}");
    }
}

#[test]
fn radii_that_sdl_gfx_cannot_count_draw_nothing() {
    let ground = drawn(|_| ());
    for radius in [-1, 1001, i32::MAX, i32::MIN] {
        assert_eq!(drawn(|scene| scene.aa_circle(Point::new(31, 23), radius, RING_AND_DISC)), ground);
    }
}
