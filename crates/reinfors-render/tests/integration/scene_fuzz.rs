//! Random scenes, the thumbnail against the plain surface, byte for byte. `REINFORS_FUZZ_SCENES` sets how
//! many; the levels of the processor take turns.
//!
//! Most surfaces are small, so that thousands fit in seconds; what matters is kept: columns of a dozen
//! pixels, shapes that leave the surface on every side, and more colours than a palette holds.

use reinfors_math::cpu::Level;
use reinfors_render::{Colour, Layout, Point, Scene, Size, Strike, Surface, Thumbnail, smoothscale};

const DEFAULT_SCENES: u64 = 6000;

/// Sebastiano Vigna's SplitMix64: one word of state, good enough to draw test cases.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in `low..=high`.
    fn within(&mut self, low: i32, high: i32) -> i32 {
        low + (self.next() % (high - low + 1) as u64) as i32
    }

    fn bytes(&mut self) -> [u8; 3] {
        let [a, b, c, ..] = self.next().to_le_bytes();
        [a, b, c]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// Half the time one of three, so that shapes of one colour meet.
    fn colour(&mut self) -> Colour {
        let [red, green, blue, kind, ..] = self.next().to_le_bytes();
        match kind % 4 {
            0 => Colour::rgb([red, green, blue]),
            1 => Colour::grey(green),
            _ => {
                [Colour::BLACK, Colour::rgb([102, 204, 102]), Colour::rgb([255, 0, 0])][usize::from(blue) % 3]
            }
        }
    }

    fn point(&mut self, size: Size) -> Point {
        let (width, height) = (size.width as i32, size.height as i32);
        let reach = [0, 3, 40, 400, 20_000][self.within(0, 4) as usize];
        Point::new(self.within(-reach, width + reach), self.within(-reach, height + reach))
    }

    /// Points around a middle, in turning order: like what games draw, often convex.
    fn ring(&mut self, size: Size, count: usize) -> Vec<Point> {
        let middle = self.point(size);
        let radius = self.within(1, size.width as i32);
        let mut angles: Vec<i32> = (0..count).map(|_| self.within(0, 6282)).collect();
        angles.sort_unstable();
        let along = |angle: i32| {
            let (sin, cos) = (f64::from(angle) / 1000.0).sin_cos();
            let radius = f64::from(radius);
            Point::truncated([f64::from(middle.x) + radius * cos, f64::from(middle.y) + radius * sin])
        };
        angles.into_iter().map(along).collect()
    }

    fn polygon(&mut self, size: Size, least: i32) -> Vec<Point> {
        let count = self.within(least, 8) as usize;
        let mut points = if self.chance(60) {
            self.ring(size, count)
        } else {
            (0..count).map(|_| self.point(size)).collect()
        };
        if self.chance(20) {
            let level = points[0].y;
            points[1].y = level;
        }
        if self.chance(10) {
            let (x, at) = (points[0].x, points.len() - 1);
            points[at].x = x;
        }
        points
    }
}

/// Two characters, two rows high, one of them with a black hole.
const STRIKE: &[u8] =
    b"STR1\x02\x02\x80\x00\x60\x00\x40\x00\x40\x00a\x02\x01\x01\x09\x08b\x01\x00\x02\x05\x00";

fn draw_something(random: &mut Random, scene: &mut Scene, strike: &Strike) {
    let (size, colour) = (scene.size(), random.colour());
    match random.within(0, 16) {
        0..=5 => scene.aa_polygon(&random.polygon(size, 3), colour),
        6..=9 => scene.polygon(&random.polygon(size, 4), colour),
        10 | 11 => scene.rectangle(random.point(size), random.point(size), colour),
        12 => {
            let ends = [random.point(Size::new(1, 1)), random.point(size), random.point(size)];
            scene.lines(&ends, random.within(2, 5), colour);
        }
        13 => scene.text(strike, ["ab", "bbaab", ""][random.within(0, 2) as usize], random.point(size)),
        14 if random.chance(30) => scene.background(colour),
        14 => scene.rectangle(Point::new(-1, random.within(0, 90)), Point::new(9999, 9999), colour),
        15 => scene.aa_circle(random.point(size), random.within(-1, 40), colour),
        _ => scene.flip(),
    }
}

#[test]
fn thumbnails_equal_the_scaled_surface_whatever_is_drawn() {
    let scenes = std::env::var("REINFORS_FUZZ_SCENES")
        .map_or(DEFAULT_SCENES, |count| count.parse().expect("REINFORS_FUZZ_SCENES is a number of scenes"));
    let strike = Strike::parse(STRIKE).unwrap();
    let levels = Level::available();
    for seed in 0..scenes {
        let random = &mut Random(seed);
        let surface = match random.within(0, 49) {
            0 => Size::new(1000, 800),
            1..=9 => Size::new(250, 200),
            _ => Size::new(random.within(20, 130) as usize, random.within(10, 120) as usize),
        };
        let shrunk = |random: &mut Random, side: usize| {
            let likely = side * 96 / 1000;
            if likely > 0 && random.chance(70) {
                likely
            } else {
                random.within(side.div_ceil(250) as i32, side as i32 - 1) as usize
            }
        };
        let size = Size::new(shrunk(random, surface.width), shrunk(random, surface.height));
        let layout = if random.chance(50) { Layout::Chw } else { Layout::Hwc };
        let mut scene = Scene::new(surface);
        let is_crowded = random.chance(3);
        let shapes = random.within(0, 25);
        for _ in 0..shapes {
            draw_something(random, &mut scene, &strike);
        }
        if is_crowded {
            // More colours than a palette holds, and no shape that hides all the others.
            for _ in 0..400 {
                let low = Point::new(
                    random.within(0, surface.width as i32),
                    random.within(0, surface.height as i32),
                );
                let high = Point::new(low.x + random.within(0, 40), low.y + random.within(0, 9));
                scene.rectangle(low, high, Colour::rgb(random.bytes()));
            }
            scene.aa_polygon(&random.polygon(surface, 3), Colour::rgb(random.bytes()));
        }
        let mut plain = Surface::new(surface);
        plain.draw(&scene);
        let (mut want, mut got) = (vec![0; 3 * size.area()], vec![1; 3 * size.area()]);
        smoothscale(&plain, size, layout, &mut want).unwrap();
        let level = levels[seed as usize % levels.len()];
        Thumbnail::new(surface, size, layout).unwrap().with_level(level).draw(&scene, &mut got);
        let level = level.name();
        assert!(want == got, "scene {seed}: {surface:?} at {size:?} in {layout:?}, {level}, {shapes} shapes");
    }
}

#[test]
fn a_thumbnail_keeps_nothing_of_the_scene_before() {
    let size = Size::new(250, 200);
    let mut thumbnail = Thumbnail::new(size, Size::new(24, 19), Layout::Chw).unwrap();
    let strike = Strike::parse(STRIKE).unwrap();
    let mut scene = Scene::new(size);
    for seed in 0..50 {
        scene.clear();
        let random = &mut Random(seed);
        for _ in 0..20 {
            draw_something(random, &mut scene, &strike);
        }
        let (mut kept, mut fresh) = (vec![0; 3 * 24 * 19], vec![0; 3 * 24 * 19]);
        thumbnail.draw(&scene, &mut kept);
        Thumbnail::new(size, Size::new(24, 19), Layout::Chw).unwrap().draw(&scene, &mut fresh);
        assert!(kept == fresh, "scene {seed}");
    }
}

#[test]
fn sizes_that_do_not_shrink_are_refused_with_what_is_allowed() {
    let refused = |width, height| {
        let error = Thumbnail::new(Size::new(1000, 800), Size::new(width, height), Layout::Chw).unwrap_err();
        error.to_string()
    };
    for (width, height) in [(1000, 96), (96, 800), (0, 96), (96, 0), (3, 96), (96, 3), (4000, 4000)] {
        let message = refused(width, height);
        assert!(message.contains("4..=999"), "{message}");
        assert!(message.contains(&format!("{width}x{height}")), "{message}");
    }
}
