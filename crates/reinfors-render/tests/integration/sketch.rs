//! The sketch against the thumbnail on shapes that any game may draw; a game's own frames are tested in its
//! folder.

use reinfors_math::cpu::Level;
use reinfors_render::{Colour, Layout, Point, Scene, Size, Sketch, Strike, Thumbnail};

const SURFACE: Size = Size::new(1000, 800);
const SIZE: Size = Size::new(96, 96);

/// One character, two pixels wide, two rows high.
const STRIKE: &[u8] = b"STR1\x02\x01\x80\x00a\x02\x00\x02\xff\x80\x40\xff";

/// What both make of a scene: sketch, thumbnail.
fn both(scene: &Scene, size: Size) -> [Vec<u8>; 2] {
    let mut pictures = [vec![1; 3 * size.area()], vec![2; 3 * size.area()]];
    Sketch::new(scene.size(), size, Layout::Hwc).unwrap().draw(scene, &mut pictures[0]);
    Thumbnail::new(scene.size(), size, Layout::Hwc).unwrap().draw(scene, &mut pictures[1]);
    pictures
}

/// Mean absolute difference, and the greatest one.
fn difference([a, b]: &[Vec<u8>; 2]) -> (f64, u8) {
    let differences = || a.iter().zip(b).map(|(a, b)| a.abs_diff(*b));
    (differences().map(f64::from).sum::<f64>() / a.len() as f64, differences().max().unwrap_or(0))
}

/// Marsaglia's xorshift, for places.
struct Random(u64);

impl Random {
    fn within(&mut self, low: i32, high: i32) -> i32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (self.0 % (high - low + 1) as u64) as i32
    }

    fn point(&mut self, reach: i32) -> Point {
        Point::new(self.within(-reach, 1000 + reach), self.within(-reach, 800 + reach))
    }

    fn colour(&mut self) -> Colour {
        Colour::rgb(std::array::from_fn(|_| self.within(0, 255) as u8))
    }

    /// A quadrilateral around a middle, corners in turning order.
    fn quad(&mut self, turned_left: bool) -> [Point; 4] {
        let middle = self.point(100);
        let mut reach = || self.within(15, 250);
        let (a, b, c, d) = (reach(), reach(), reach(), reach());
        let mut quad = [(a, b / 2), (-c / 2, d), (-a, -b), (c, -d / 2)]
            .map(|(x, y)| Point::new(middle.x + x, middle.y + y));
        if turned_left {
            quad.reverse();
        }
        quad
    }
}

#[test]
fn smooth_polygons_are_drawn_as_gfxdraw_paints_them_on_average() {
    let random = &mut Random(3);
    for index in 0..300 {
        let mut scene = Scene::new(SURFACE);
        scene.background(random.colour());
        scene.aa_polygon(&random.quad(index % 2 == 0), random.colour());
        if index % 3 == 0 {
            scene.flip();
        }
        let (mean, most) = difference(&both(&scene, SIZE));
        assert!(mean < 0.06 && most < 32, "scene {index}: {mean:.3}, {most}");
    }
}

#[test]
fn nothing_shines_through_the_edges_of_a_mesh() {
    let column = |x: i32, lean: i32| [Point::new(x, -40), Point::new(x + lean, 840)];
    for lean in [-300, -31, 0, 7, 200] {
        let mut scene = Scene::new(SURFACE);
        scene.background(Colour::rgb([255, 0, 0]));
        scene.mesh();
        for x in (-400..1400).step_by(37) {
            let ([a, b], [d, c]) = (column(x, lean), column(x + 37, lean));
            scene.aa_polygon(&[a, d, c, b], Colour::rgb([90, 160, 80]));
        }
        let [sketch, thumbnail] = both(&scene, SIZE);
        assert!(thumbnail.chunks_exact(3).all(|pixel| pixel == [88, 158, 78]));
        assert_eq!(sketch, thumbnail, "lean {lean}");
    }
}

#[test]
fn hard_shapes_that_cover_each_other_keep_their_pixels() {
    let random = &mut Random(5);
    for index in 0..300 {
        let mut scene = Scene::new(SURFACE);
        scene.background(random.colour());
        for _ in 0..random.within(1, 4) {
            let (a, b) = (random.point(50), random.point(50));
            match random.within(0, 4) {
                0 => scene.rectangle(a, b, random.colour()),
                1 => scene.lines(&[a, b, random.point(400)], random.within(2, 7), random.colour()),
                // Its edges cross each other.
                2 => scene.polygon(&std::array::from_fn::<_, 6, _>(|_| random.point(50)), random.colour()),
                _ => scene.polygon(&random.quad(false), random.colour()),
            }
        }
        if index % 2 == 0 {
            scene.flip();
            scene.rectangle(Point::new(-5, 700), Point::new(1000, 800), Colour::BLACK);
        }
        let (mean, most) = difference(&both(&scene, SIZE));
        assert!(mean < 0.1 && most <= 3, "scene {index}: {mean:.3}, {most}");
    }
}

#[test]
fn a_panel_is_drawn_to_the_byte_and_its_text_every_time() {
    let random = &mut Random(7);
    let strike = Strike::parse(STRIKE).unwrap();
    let mut sketch = Sketch::new(SURFACE, SIZE, Layout::Hwc).unwrap();
    for index in 0..400 {
        let mut scene = Scene::new(SURFACE);
        scene.background(random.colour());
        let ground = if index % 4 == 0 { random.colour() } else { Colour::BLACK };
        scene.rectangle(Point::new(0, 700), Point::new(1000, 800), ground);
        for _ in 0..random.within(0, 8) {
            let corner = |random: &mut Random| Point::new(random.within(100, 1100), random.within(700, 820));
            scene.rectangle(corner(random), corner(random), random.colour());
        }
        for _ in 0..random.within(0, 2) {
            let centre = Point::new(20 * random.within(-1, 6), 750);
            scene.text(&strike, ["a", "aa", "aaa"][random.within(0, 2) as usize], centre);
        }
        let [_, want] = both(&scene, SIZE);
        let mut got = vec![0; want.len()];
        sketch.draw(&scene, &mut got);
        let first = 3 * 96 * 84;
        assert!(got[first..] == want[first..], "scene {index}");
    }
}

/// Anything, far outside included: no panic, the same at every level, and nothing left of the frame before.
#[test]
fn every_level_draws_the_same_bytes_whatever_is_drawn() {
    let random = &mut Random(11);
    let strike = Strike::parse(STRIKE).unwrap();
    for index in 0..400 {
        let size = Size::new(random.within(4, 130) as usize, random.within(4, 130) as usize);
        let layout = [Layout::Chw, Layout::Hwc, Layout::Gray][index % 3];
        let new = || Sketch::new(SURFACE, size, layout).unwrap();
        let mut kept = new();
        let mut scene = Scene::new(SURFACE);
        for _ in 0..2 {
            scene.clear();
            for _ in 0..random.within(0, 12) {
                let reach = [0, 300, 40_000][random.within(0, 2) as usize];
                let points: Vec<Point> = (0..random.within(1, 7)).map(|_| random.point(reach)).collect();
                match random.within(0, 7) {
                    0 => scene.flip(),
                    1 => scene.mesh(),
                    2 => scene.polygon(&points, random.colour()),
                    3 => scene.rectangle(points[0], random.point(reach), random.colour()),
                    4 => scene.text(&strike, "aaaaa", points[0]),
                    5 => scene.lines(&points, 3, random.colour()),
                    _ => scene.aa_polygon(&points, random.colour()),
                }
            }
            let mut want = vec![0; layout.channels() * size.area()];
            kept.draw(&scene, &mut want);
            for level in Level::available() {
                let mut got = vec![9; want.len()];
                new().with_level(level).draw(&scene, &mut got);
                assert!(got == want, "scene {index} at {size:?}, {}", level.name());
            }
        }
    }
}

#[test]
fn sizes_that_do_not_shrink_are_refused() {
    for (width, height) in [(1000, 96), (96, 800), (0, 96), (3, 96)] {
        assert!(Sketch::new(SURFACE, Size::new(width, height), Layout::Chw).is_err());
    }
}
