//! The middle line of a track: a path that is steered from checkpoint to checkpoint around the origin, of
//! which one lap is kept.
//!
//! Draws and arithmetic follow `CarRacing._create_track` to the letter; the reference draws for all
//! checkpoints, including the two whose numbers it then replaces.

use std::f64::consts::PI;

use reinfors_core::rng::Pcg64;
use reinfors_math::{Vec2, trig};
use serde::{Deserialize, Serialize};

use super::{SCALE, TURN_RATE};

/// `CHECKPOINTS`.
const CHECKPOINTS: usize = 12;
/// `TRACK_RAD`: the track is a deformed circle of about this radius, metres.
const RADIUS: f64 = 900.0 / SCALE;
/// `TRACK_DETAIL_STEP`: distance between two points, metres.
const DETAIL_STEP: f64 = 21.0 / SCALE;
/// `no_freeze`: the most points a path may have.
const MAX_POINTS: usize = 2500;
/// `start_alpha`: the lap is cut where the path passes this angle around the origin.
const START_ALPHA: f64 = 2.0 * PI * (-0.5) / CHECKPOINTS as f64;

/// A point of the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// Angle around the origin, radians.
    pub alpha: f64,
    /// Direction across the road, radians; the road runs a quarter turn ahead of it.
    pub beta: f64,
    /// Position, metres.
    pub x: f64,
    /// Position, metres.
    pub y: f64,
}

/// What the path steers for.
struct Checkpoint {
    alpha: f64,
    position: Vec2<f64>,
}

/// Draws checkpoints and follows them. `None` if the path does not close, which some draws lead to.
pub(super) fn attempt(rng: &mut Pcg64) -> Option<Vec<PathPoint>> {
    let path = follow(&draw_checkpoints(rng));
    let lap = one_lap(&path)?;
    closes(lap).then(|| lap.to_vec())
}

fn draw_checkpoints(rng: &mut Pcg64) -> [Checkpoint; CHECKPOINTS] {
    const LAST: usize = CHECKPOINTS - 1;
    std::array::from_fn(|index| {
        let even = 2.0 * PI * index as f64 / CHECKPOINTS as f64;
        let noise = rng.uniform(0.0, 2.0 * PI * 1.0 / CHECKPOINTS as f64);
        let drawn_radius = rng.uniform(RADIUS / 3.0, RADIUS);
        let (alpha, radius) = match index {
            0 => (0.0, 1.5 * RADIUS),
            LAST => (even, 1.5 * RADIUS),
            _ => (even + noise, drawn_radius),
        };
        Checkpoint { alpha, position: Vec2::new(radius * trig::cos(alpha), radius * trig::sin(alpha)) }
    })
}

/// Steers for one checkpoint after the other, for five laps or [`MAX_POINTS`] points.
fn follow(checkpoints: &[Checkpoint; CHECKPOINTS]) -> Vec<PathPoint> {
    let mut position = Vec2::new(1.5 * RADIUS, 0.0);
    let mut beta = 0.0;
    let mut target = 0;
    let mut laps = 0;
    let mut seen_other_side = false;
    let mut path = Vec::with_capacity(MAX_POINTS);
    while laps <= 4 && path.len() < MAX_POINTS {
        let mut alpha = trig::atan2(position.y, position.x);
        if seen_other_side && alpha > 0.0 {
            laps += 1;
            seen_other_side = false;
        }
        if alpha < 0.0 {
            seen_other_side = true;
            alpha += 2.0 * PI;
        }
        let destination = next_checkpoint(checkpoints, &mut target, &mut alpha);
        let across = Vec2::new(trig::cos(beta), trig::sin(beta));
        let ahead = Vec2::new(-across.y, across.x);
        let (turned, mean) = steer(beta, alpha, across.dot(destination - position));
        beta = turned;
        position += ahead * DETAIL_STEP;
        path.push(PathPoint { alpha, beta: mean, x: position.x, y: position.y });
    }
    path
}

/// The first checkpoint from `target` on that lies ahead of `alpha`, which loses a turn whenever the row of
/// checkpoints ends.
fn next_checkpoint(
    checkpoints: &[Checkpoint; CHECKPOINTS],
    target: &mut usize,
    alpha: &mut f64,
) -> Vec2<f64> {
    loop {
        let checkpoint = &checkpoints[*target % CHECKPOINTS];
        if *alpha <= checkpoint.alpha {
            return checkpoint.position;
        }
        *target += 1;
        if target.is_multiple_of(CHECKPOINTS) {
            *alpha -= 2.0 * PI;
        }
    }
}

/// Turns `beta` towards a destination that lies `aside` metres across the path. Returns the new direction and
/// the mean of old and new.
fn steer(mut beta: f64, alpha: f64, aside: f64) -> (f64, f64) {
    while beta - alpha > 1.5 * PI {
        beta -= 2.0 * PI;
    }
    while beta - alpha < -1.5 * PI {
        beta += 2.0 * PI;
    }
    let before = beta;
    let aside = aside * SCALE;
    let turn = (0.001 * aside).abs().min(TURN_RATE);
    if aside > 0.3 {
        beta -= turn;
    }
    if aside < -0.3 {
        beta += turn;
    }
    (beta, before * 0.5 + beta * 0.5)
}

/// The points between the last two passages of the start. `None` if there are fewer than two.
fn one_lap(path: &[PathPoint]) -> Option<&[PathPoint]> {
    let passes_start =
        |&index: &usize| path[index].alpha > START_ALPHA && path[index - 1].alpha <= START_ALPHA;
    let mut passages = (1..path.len()).rev().filter(passes_start);
    let (end, start) = (passages.next()?, passages.next()?);
    Some(&path[start..end - 1])
}

/// Whether the last point is at most one step away from the first, measured across the road.
fn closes(lap: &[PathPoint]) -> bool {
    let [first, .., last] = lap else { return false };
    let (x, y) = (trig::cos(first.beta) * (first.x - last.x), trig::sin(first.beta) * (first.y - last.y));
    (x * x + y * y).sqrt() <= DETAIL_STEP
}
