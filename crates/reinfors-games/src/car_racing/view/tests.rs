//! Frames against the reference's own (`golden/frames.bin`), and the thumbnail against the plain surface on
//! random poses of a real track. `REINFORS_FUZZ_SCENES` sets how many.

use reinfors_core::rng::{Pcg64, Seed};
use reinfors_math::{Rotation, Transform, Vec2, trig};
use reinfors_render::{Layout, Scene, Size, Surface, Thumbnail, smoothscale};
use std::f32::consts::FRAC_PI_2;

use super::super::colours::{Colours, drawn};
use super::super::track::{Part, Quad, Track, stretch};
use super::{OBSERVATION, PICTURE, Pose, Road, SURFACE, Skid, View};

const DEFAULT_SCENES: usize = 3000;

/// What both rasterisers make of a scene at `size`: thumbnail, scaled surface.
fn both(scene: &Scene, size: Size) -> [Vec<u8>; 2] {
    let mut pictures = [vec![0; 3 * size.area()], vec![0; 3 * size.area()]];
    Thumbnail::new(SURFACE, size, Layout::Hwc).unwrap().draw(scene, &mut pictures[0]);
    let mut surface = Surface::new(SURFACE);
    surface.draw(scene);
    smoothscale(&surface, size, Layout::Hwc, &mut pictures[1]).unwrap();
    pictures
}

/// Reads little-endian numbers off the front.
struct Record<'a>(&'a [u8]);

impl Record<'_> {
    fn take(&mut self, count: usize) -> &[u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.take(4).try_into().unwrap()) as usize
    }

    fn single(&mut self) -> f32 {
        f32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn double(&mut self) -> f64 {
        f64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn doubles<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.double())
    }

    fn colour(&mut self) -> [u8; 3] {
        self.take(3).try_into().unwrap()
    }

    fn vector(&mut self) -> Vec2 {
        Vec2::new(self.single(), self.single())
    }

    fn transform(&mut self) -> Transform {
        let position = self.vector();
        Transform { position, rotation: Rotation { sin: self.single(), cos: self.single() } }
    }

    fn pose(&mut self) -> Pose {
        let [time, score] = self.doubles();
        Pose {
            time,
            score,
            hull: self.transform(),
            wheels: std::array::from_fn(|_| self.transform()),
            angle: self.single(),
            velocity: self.vector(),
            angular_velocity: self.single(),
            wheel_speeds: self.doubles(),
            wheel_phases: self.doubles(),
            steering: self.double(),
        }
    }

    fn mark(&mut self) -> (Vec<[f64; 2]>, [u8; 3]) {
        let (count, colour) = (self.count(), self.colour());
        ((0..count).map(|_| self.doubles()).collect(), colour)
    }

    fn picture(&mut self) -> Vec<u8> {
        let count = self.count();
        let runs = self.take(count).chunks_exact(4);
        runs.flat_map(|run| run[1..].repeat(usize::from(run[0]))).collect()
    }
}

#[test]
fn golden_frames_are_drawn_to_the_byte() {
    let record = &mut Record(include_bytes!("../golden/frames.bin"));
    let view = View::new();
    let mut scene = view.scene();
    let mut pictures = 0;
    for episode in 0..record.count() {
        let quads: Vec<Quad> =
            (0..record.count()).map(|_| std::array::from_fn(|_| record.doubles())).collect();
        let stretches = stretch::of_quads(&quads);
        let colours = Colours { road: [0.0; 3], background: record.doubles(), grass: record.doubles() };
        for frame in 0..record.count() {
            let pose = record.pose();
            let road: Vec<_> = quads.iter().map(|_| record.colour()).collect();
            let marks: Vec<_> = (0..record.count()).map(|_| record.mark()).collect();
            let (observation, picture) = (record.picture(), record.picture());

            let road = Road { quads: &quads, stretches: &stretches, colours: &road };
            view.observe(&mut scene, road, &colours, &pose);
            let drawn = both(&scene, OBSERVATION);
            assert!(drawn[0] == observation, "thumbnail, episode {episode} frame {frame}");
            assert!(drawn[1] == observation, "plain surface, episode {episode} frame {frame}");
            if !picture.is_empty() {
                pictures += 1;
                let skids = marks.iter().map(|(points, colour)| Skid { points, colour: *colour });
                view.draw(&mut scene, road, &colours, &pose, skids);
                for drawn in both(&scene, Size::new(PICTURE.width, PICTURE.height)) {
                    assert!(drawn == picture, "picture, episode {episode} frame {frame}");
                }
            }
        }
    }
    assert!(record.0.is_empty() && pictures > 0);
}

/// A car anywhere, mostly near the track, at any angle and speed.
fn random_pose(rng: &mut Pcg64, track: &Track) -> Pose {
    let near = track.quads()[rng.integers(track.quads().len() as u64) as usize][0];
    let chance = |rng: &mut Pcg64, share: f64| rng.uniform(0.0, 1.0) < share;
    let reach = if chance(rng, 0.15) { 200.0 } else { 12.0 };
    let middle =
        if chance(rng, 0.1) { [rng.uniform(-360.0, 360.0), rng.uniform(-360.0, 360.0)] } else { near };
    let position = middle.map(|along| (along + rng.uniform(-reach, reach)) as f32);
    let angle = match rng.uniform(0.0, 1.0) {
        share if share < 0.05 => (rng.integers(9) as f32 - 4.0) * FRAC_PI_2,
        _ => rng.uniform(-10.0, 10.0) as f32,
    };
    let turned = |angle: f32| {
        let (sin, cos) = trig::sin_cos(angle);
        Rotation { sin, cos }
    };
    let hull = Transform { position: Vec2::new(position[0], position[1]), rotation: turned(angle) };
    let steering = rng.uniform(-0.45, 0.45);
    let wheel = |index: usize| {
        let seat = [Vec2::new(-1.1, 1.6), Vec2::new(1.1, 1.6), Vec2::new(-1.1, -1.64), Vec2::new(1.1, -1.64)];
        let turn = if index < 2 { steering as f32 } else { 0.0 };
        Transform { position: hull.apply(seat[index]), rotation: turned(angle + turn) }
    };
    Pose {
        time: if chance(rng, 0.2) { rng.uniform(0.02, 1.0) } else { 5.0 },
        score: rng.uniform(-1.0, 1.5) * [1.0, 100.0, 1000.0, 1e6][rng.integers(4) as usize],
        hull,
        angle,
        velocity: Vec2::new(rng.uniform(-100.0, 100.0) as f32, rng.uniform(-100.0, 100.0) as f32),
        angular_velocity: rng.uniform(-15.0, 15.0) as f32,
        wheels: std::array::from_fn(wheel),
        wheel_speeds: std::array::from_fn(|_| rng.uniform(-50.0, 300.0)),
        wheel_phases: std::array::from_fn(|_| rng.uniform(-50.0, 50.0)),
        steering,
    }
}

/// The road's colours with a random share of the tiles touched.
fn random_road_colours(rng: &mut Pcg64, track: &Track, colours: &Colours) -> Vec<[u8; 3]> {
    let touched = rng.uniform(0.0, 1.0);
    let colour = |part: &Part| match *part {
        Part::Tile(_) if rng.uniform(0.0, 1.0) < touched => drawn(colours.road),
        Part::Tile(index) => drawn(colours.fresh_tile(index)),
        Part::Kerb(index) if index % 2 == 0 => [255, 255, 255],
        Part::Kerb(_) => [255, 0, 0],
    };
    track.parts().iter().map(colour).collect()
}

#[test]
fn thumbnails_equal_the_scaled_surface_on_random_poses() {
    let scenes = std::env::var("REINFORS_FUZZ_SCENES")
        .map_or(DEFAULT_SCENES, |count| count.parse().expect("REINFORS_FUZZ_SCENES is a number of scenes"));
    let rng = &mut Pcg64::from(&Seed::from(20_240_607u64));
    let tracks: Vec<Track> = (0..4).map(|_| Track::generate(rng)).collect();
    let view = View::new();
    let mut scene = view.scene();
    let mut surface = Surface::new(SURFACE);
    let mut thumbnail = Thumbnail::new(SURFACE, OBSERVATION, Layout::Chw).unwrap();
    let (mut want, mut got) = (vec![0; 3 * OBSERVATION.area()], vec![0; 3 * OBSERVATION.area()]);
    for index in 0..scenes {
        let track = &tracks[index % tracks.len()];
        let pose = random_pose(rng, track);
        let colours = if index % 4 == 0 { Colours::random(rng) } else { Colours::default() };
        let road_colours = random_road_colours(rng, track, &colours);
        let road = Road { quads: track.quads(), stretches: track.stretches(), colours: &road_colours };
        view.observe(&mut scene, road, &colours, &pose);
        surface.draw(&scene);
        smoothscale(&surface, OBSERVATION, Layout::Chw, &mut want).unwrap();
        thumbnail.draw(&scene, &mut got);
        assert!(want == got, "scene {index}: {pose:?}, {colours:?}");
    }
}

#[test]
fn scores_are_written_as_the_reference_formats_them() {
    // The text's width follows from its characters: five are wider than four.
    let view = View::new();
    let picture = |score: f64| {
        let mut scene = view.scene();
        view.draw_score(&mut scene, score);
        both(&scene, Size::new(PICTURE.width, PICTURE.height))
    };
    for (score, same) in [(0.5, 0.0), (1.5, 2.0), (-0.4, -0.0), (12.49, 12.0), (-1234.5, -1234.0)] {
        assert_eq!(picture(score), picture(same), "{score}");
    }
    for (score, other) in [(0.0, -0.0), (2.5, 3.0), (9999.0, 10_000.0), (-999.0, -1000.0), (1e6, 1e7)] {
        assert_ne!(picture(score), picture(other), "{score}");
    }
    for extreme in [f64::MAX, f64::MIN, f64::INFINITY, f64::NAN] {
        let [thumbnail, plain] = picture(extreme);
        assert_eq!(thumbnail, plain);
    }
}

#[test]
fn a_larger_picture_shows_the_same_scene() {
    // Shrunk to the usual size, it differs from the usual picture at the edges of shapes only.
    let rng = &mut Pcg64::from(&Seed::from(3));
    let track = Track::generate(rng);
    let (usual, large) = (View::new(), View::new().enlarged(3));
    let drawn = |view: &View, road: Road, pose: &Pose, skids: &[Skid]| {
        let mut scene = view.scene();
        view.draw(&mut scene, road, &Colours::default(), pose, skids.iter().copied());
        let mut surface = Surface::new(scene.size());
        surface.draw(&scene);
        let size = Size::new(PICTURE.width, PICTURE.height);
        let mut picture = vec![0; 3 * size.area()];
        smoothscale(&surface, size, Layout::Hwc, &mut picture).unwrap();
        picture
    };
    let mean = |a: &[u8], b: &[u8]| {
        a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / a.len() as f64
    };
    for index in 0..60 {
        let (pose, other) = (random_pose(rng, &track), random_pose(rng, &track));
        let road_colours = random_road_colours(rng, &track, &Colours::default());
        let road = Road { quads: track.quads(), stretches: track.stretches(), colours: &road_colours };
        let [x, y] = [pose.hull.position.x, pose.hull.position.y].map(f64::from);
        let skid = [[x - 20.0, y - 9.0], [x + 20.0, y + 9.0]];
        let skids = [Skid::new(&skid, true)];
        let small = drawn(&usual, road, &pose, &skids);
        let difference = mean(&small, &drawn(&large, road, &pose, &skids));
        assert!(difference < 1.5, "scene {index}: {difference}, {pose:?}");
        if index == 0 {
            assert!(mean(&small, &drawn(&large, road, &other, &skids)) > 1.5);
        }
    }
}
