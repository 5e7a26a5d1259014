//! Sketched frames against exact ones over whole episodes: the tolerance that `frames="fast"` promises,
//! opening second and car included, and the figures behind it (run with `--nocapture`).

use reinfors_core::rng::{Pcg64, Seed};
use reinfors_render::{Layout, Scene, Sketch, Thumbnail};
use std::f64::consts::PI;

use super::super::car::Control;
use super::super::race::{Race, Rules};
use super::{OBSERVATION, Pose, Road, SURFACE, View};

/// Mean absolute difference of all bytes, in levels.
const MOST_MEAN: f64 = 0.06;
/// Share of the pixels with a channel off by more than two levels.
const MOST_OFF: f64 = 0.01;

const EPISODES: u64 = 10;
const STEPS: usize = 1000;
/// The view zooms in for as long.
const OPENING: usize = 50;
/// Of the steps after the opening, every so many are looked at.
const EVERY: usize = 4;

/// The rows of the panel, and the cells that show the car at full zoom.
const PANEL_ROW: usize = 84;
const CAR_COLUMNS: std::ops::Range<usize> = 44..53;
const CAR_ROWS: std::ops::Range<usize> = 64..79;

/// Who drives an episode.
enum Driver {
    /// Aims at the road ahead; now and then throws the car into a slide or locks the brakes.
    Racer { top_speed: f64, left: u64, mishap: u64 },
    /// Any control, held for a few steps.
    Random(Control),
    /// One of the five discrete actions, held for a few steps.
    Discrete(Control),
}

const COAST: Control = Control { steer: 0.0, gas: 0.0, brake: 0.0 };

impl Driver {
    const HOLD: usize = 4;

    fn new(seed: u64) -> Self {
        match seed % 3 {
            0 => Self::Racer { top_speed: 50.0 + 5.0 * seed as f64, left: 0, mishap: 0 },
            1 => Self::Random(COAST),
            _ => Self::Discrete(COAST),
        }
    }

    fn drive(&mut self, rng: &mut Pcg64, race: &Race, step: usize) -> Control {
        match self {
            Self::Racer { top_speed, left, mishap } => {
                if *left == 0 {
                    (*left, *mishap) = (60 + rng.integers(100), rng.integers(4));
                }
                *left -= 1;
                let control = aim(race, *top_speed);
                match mishap {
                    1 | 2 if *left < 20 => {
                        Control { steer: if *mishap == 1 { 1.0 } else { -1.0 }, gas: 1.0, brake: 0.0 }
                    }
                    3 if *left < 15 => Control { brake: 1.0, ..control },
                    _ => control,
                }
            }
            Self::Random(held) => {
                if step.is_multiple_of(Self::HOLD) {
                    let [steer, gas, brake] = [-1.0, 0.0, 0.0].map(|low| rng.uniform(low, 1.0));
                    *held = Control { steer, gas, brake };
                }
                Control { ..*held }
            }
            Self::Discrete(held) => {
                if step.is_multiple_of(Self::HOLD) {
                    *held = match rng.integers(10) {
                        0 => COAST,
                        1 | 2 => Control { steer: 0.6, ..COAST },
                        3 | 4 => Control { steer: -0.6, ..COAST },
                        5 => Control { brake: 0.8, ..COAST },
                        _ => Control { gas: 0.2, ..COAST },
                    };
                }
                Control { ..*held }
            }
        }
    }
}

/// The control that leads to the road ahead.
fn aim(race: &Race, top_speed: f64) -> Control {
    let pose = race.pose_now();
    let (x, y) = (f64::from(pose.hull.position.x), f64::from(pose.hull.position.y));
    let speed = f64::from(pose.velocity.x).hypot(f64::from(pose.velocity.y));
    let points = race.track().points();
    let away = |index: &usize| (points[*index].x - x).hypot(points[*index].y - y);
    let nearest = (0..points.len()).min_by(|a, b| away(a).total_cmp(&away(b))).expect("a track has points");
    let ahead = &points[(nearest + 3 + (speed * 0.09) as usize) % points.len()];
    let off = (x - ahead.x).atan2(ahead.y - y) - f64::from(pose.angle);
    let off = (off + PI).rem_euclid(2.0 * PI) - PI;
    let gas = if speed < top_speed { 1.0 } else { 0.0 };
    let brake = if speed > top_speed + 10.0 { 0.4 } else { 0.0 };
    Control { steer: (-2.0 * off).clamp(-1.0, 1.0), gas, brake }
}

/// Differences of many pixels.
#[derive(Clone, Copy, Debug, Default)]
struct Difference {
    pixels: f64,
    levels: f64,
    off: f64,
    most: u8,
}

impl Difference {
    fn add(&mut self, got: &[u8], want: &[u8], weight: f64) {
        let differences: [u8; 3] = std::array::from_fn(|channel| got[channel].abs_diff(want[channel]));
        let most = differences.into_iter().max().unwrap_or(0);
        self.pixels += weight;
        self.levels += weight * differences.into_iter().map(f64::from).sum::<f64>() / 3.0;
        self.off += if most > 2 { weight } else { 0.0 };
        self.most = self.most.max(most);
    }

    fn merge(&mut self, other: &Self) {
        self.pixels += other.pixels;
        self.levels += other.levels;
        self.off += other.off;
        self.most = self.most.max(other.most);
    }

    fn mean(&self) -> f64 {
        self.levels / self.pixels
    }

    fn share_off(&self) -> f64 {
        self.off / self.pixels
    }

    fn is_within_tolerance(&self) -> bool {
        self.mean() <= MOST_MEAN && self.share_off() <= MOST_OFF
    }
}

/// The parts of a frame that are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Region {
    Panel,
    Car,
    /// A pixel like those around it.
    Flat,
    /// Any other.
    Edge,
}

const REGIONS: [Region; 4] = [Region::Panel, Region::Car, Region::Flat, Region::Edge];

fn region(picture: &[u8], row: usize, column: usize) -> Region {
    if row >= PANEL_ROW {
        return Region::Panel;
    }
    if CAR_ROWS.contains(&row) && CAR_COLUMNS.contains(&column) {
        return Region::Car;
    }
    let pixel = |row: usize, column: usize| &picture[3 * (row * OBSERVATION.width + column)..][..3];
    let here = pixel(row, column);
    let rows = row.saturating_sub(1)..(row + 2).min(PANEL_ROW);
    let is_flat = rows.into_iter().all(|row| {
        (column.saturating_sub(1)..(column + 2).min(OBSERVATION.width))
            .all(|column| pixel(row, column).iter().zip(here).all(|(a, b)| a.abs_diff(*b) <= 6))
    });
    if is_flat { Region::Flat } else { Region::Edge }
}

/// Both rasterisers and their pictures.
struct Pair {
    view: View,
    scene: Scene,
    exact: Thumbnail,
    fast: Sketch,
    want: Vec<u8>,
    got: Vec<u8>,
}

impl Pair {
    fn new() -> Self {
        let view = View::new();
        let picture = vec![0; 3 * OBSERVATION.area()];
        Self {
            scene: view.scene(),
            view,
            exact: Thumbnail::new(SURFACE, OBSERVATION, Layout::Hwc).unwrap(),
            fast: Sketch::new(SURFACE, OBSERVATION, Layout::Hwc).unwrap(),
            want: picture.clone(),
            got: picture,
        }
    }

    /// Draws a race as it is, exactly, and `sketched` fast.
    fn draw(&mut self, race: &Race, sketched: &Pose) {
        let track = race.track();
        let road = Road { quads: track.quads(), stretches: track.stretches(), colours: race.road_colours() };
        self.view.observe(&mut self.scene, road, race.colours(), &race.pose());
        self.exact.draw(&self.scene, &mut self.want);
        self.view.observe(&mut self.scene, road, race.colours(), sketched);
        self.fast.draw(&self.scene, &mut self.got);
    }

    /// The differences by region.
    fn compare(&self, regions: &mut [Difference; REGIONS.len()], weight: f64) {
        for row in 0..OBSERVATION.height {
            for column in 0..OBSERVATION.width {
                let at = 3 * (row * OBSERVATION.width + column);
                let region = region(&self.want, row, column) as usize;
                regions[region].add(&self.got[at..at + 3], &self.want[at..at + 3], weight);
            }
        }
    }
}

fn total(regions: &[Difference]) -> Difference {
    regions.iter().fold(Difference::default(), |mut sum, region| {
        sum.merge(region);
        sum
    })
}

fn started(seed: u64) -> Race {
    let mut race = Race::new(Rules { domain_randomize: seed == 4, ..Rules::default() }, &Seed::from(seed));
    race.reset(Some(&Seed::from(seed)), true, None);
    race
}

#[test]
fn fast_frames_stay_within_the_tolerance_over_whole_episodes() {
    let mut pair = Pair::new();
    let mut phases = [[Difference::default(); REGIONS.len()]; 2];
    for seed in 0..EPISODES {
        let rng = &mut Pcg64::from(&Seed::from(seed + 1000));
        let (mut race, mut driver) = (started(seed), Driver::new(seed));
        let mut episode = [[Difference::default(); REGIONS.len()]; 2];
        for step in 0..STEPS {
            let is_opening = step < OPENING;
            if is_opening || step % EVERY == 0 {
                pair.draw(&race, &race.pose());
                let weight = if is_opening { 1.0 } else { EVERY as f64 };
                pair.compare(&mut episode[usize::from(is_opening)], weight);
            }
            let control = driver.drive(rng, &race, step);
            race.step(Some(control));
        }
        let whole = total(episode.as_flattened());
        println!("seed {seed}: mean {:.4}, off {:.3} %", whole.mean(), 100.0 * whole.share_off());
        assert!(whole.is_within_tolerance(), "seed {seed}: {whole:?}");
        for (sum, region) in phases.as_flattened_mut().iter_mut().zip(episode.as_flattened()) {
            sum.merge(region);
        }
    }
    for (name, regions) in ["full zoom", "opening"].iter().zip(&phases) {
        let whole = total(regions);
        for (region, difference) in REGIONS
            .iter()
            .zip(regions)
            .map(|(region, d)| (format!("{region:?}"), d))
            .chain([("all".into(), &whole)])
        {
            println!(
                "{name:9} {region:5} {:6.2} % of pixels, mean {:.4}, off {:.3} %, most {}",
                100.0 * difference.pixels / whole.pixels,
                difference.mean(),
                100.0 * difference.share_off(),
                difference.most
            );
        }
        assert!(whole.is_within_tolerance(), "{name}: {whole:?}");
        assert_eq!(regions[Region::Panel as usize].most, 0, "{name}: the panel is exact");
        assert!(regions[Region::Flat as usize].mean() < 0.01, "{name}: flat parts are flat");
    }
}

#[test]
fn a_view_half_a_pixel_off_is_out_of_tolerance() {
    // The margin of the tolerance is finer than what half a surface pixel of the soft outline makes.
    const HALF_PIXEL: f32 = 0.5 / 16.2;
    let mut pair = Pair::new();
    let mut race = started(0);
    let mut regions = [Difference::default(); REGIONS.len()];
    let mut driver = Driver::new(0);
    let rng = &mut Pcg64::from(&Seed::from(0));
    for step in 0..300 {
        if step >= OPENING && step % 10 == 0 {
            let mut pose = race.pose();
            pose.hull.position.x += HALF_PIXEL;
            pose.hull.position.y += HALF_PIXEL;
            pair.draw(&race, &pose);
            pair.compare(&mut regions, 1.0);
        }
        let control = driver.drive(rng, &race, step);
        race.step(Some(control));
    }
    let whole = total(&regions);
    assert!(!whole.is_within_tolerance(), "{whole:?}");
}
