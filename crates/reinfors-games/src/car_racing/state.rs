//! The state of a race as a short vector of named numbers: an observation without pictures.
//!
//! Everything is computed in double precision and rounded once. The track is told relative to the car, by the
//! path's point nearest to the hull, so that the same situation elsewhere gives the same numbers.

use super::car::DT;
use super::race::Race;
use super::track::PathPoint;
use reinfors_core::StateEntry;
use reinfors_math::{Vec2, trig};
use std::f64::consts::TAU;

/// How many tiles ahead the bends are told of.
const AHEAD: [usize; 3] = [5, 10, 20];

const fn entry(name: &'static str, doc: &'static str) -> StateEntry {
    StateEntry::new(name, doc)
}

/// What [`vector`] holds, in its order.
pub const ENTRIES: &[StateEntry] = &[
    entry("speed", "Speed of the hull, metres per second."),
    entry("sideways_speed", "Speed of the hull towards its right, metres per second."),
    entry("gyro", "Angular velocity of the hull, radians per second, positive to the left."),
    entry("wheel_speed_front_left", "Spin of the wheel, radians per second."),
    entry("wheel_speed_front_right", "Spin of the wheel, radians per second."),
    entry("wheel_speed_rear_left", "Spin of the wheel, radians per second."),
    entry("wheel_speed_rear_right", "Spin of the wheel, radians per second."),
    entry("wheel_on_road_front_left", "1 while the wheel touches the road, else 0."),
    entry("wheel_on_road_front_right", "1 while the wheel touches the road, else 0."),
    entry("wheel_on_road_rear_left", "1 while the wheel touches the road, else 0."),
    entry("wheel_on_road_rear_right", "1 while the wheel touches the road, else 0."),
    entry("steering", "Angle of the left front wheel against the hull, radians, positive to the left."),
    entry("gas", "Gas that reaches the rear wheels, 0 to 1; it rises gradually."),
    entry("brake", "Brake as last set."),
    entry("tiles_visited", "Share of the track's tiles that were visited, 0 to 1."),
    entry("tiles_left", "Number of tiles that were not."),
    entry("steps", "Steps of the simulator since the reset."),
    entry(
        "track_distance",
        "Distance of the hull from the middle of the road, metres, positive to the right of it.",
    ),
    entry("track_angle", "Heading against the road's, radians from -pi to pi, positive to the left."),
    entry("bend_5", "Turn of the road over the next 5 tiles, radians from -pi to pi, positive to the left."),
    entry(
        "bend_10",
        "Turn of the road over the next 10 tiles, radians from -pi to pi, positive to the left.",
    ),
    entry(
        "bend_20",
        "Turn of the road over the next 20 tiles, radians from -pi to pi, positive to the left.",
    ),
];

/// The numbers of [`ENTRIES`].
pub fn vector(race: &Race) -> [f32; ENTRIES.len()] {
    let (car, contacts) = (race.car(), race.contacts());
    let (hull, wheels) = (car.hull(), car.wheels());
    let velocity = widened(hull.velocity.linear);
    let right = widened(hull.transform.rotation.rotate(Vec2::new(1.0, 0.0)));
    let [front_left, front_right, rear_left, rear_right] = wheels.each_ref().map(|wheel| wheel.omega);
    let on_road = contacts.on_road().map(|on_road| f64::from(u8::from(on_road)));
    let (path, position) = (race.track().points(), widened(hull.transform.position));
    let (tiles, visited) = (path.len() as f64, contacts.visited_count() as f64);
    let [track_distance, track_angle, bend_5, bend_10, bend_20] =
        race.track().nearest(position).map_or([0.0; 2 + AHEAD.len()], |nearest| {
            around(path, nearest, position, hull.placement.angle.into())
        });
    [
        dot(velocity, velocity).sqrt(),
        dot(velocity, right),
        hull.velocity.angular.into(),
        front_left,
        front_right,
        rear_left,
        rear_right,
        on_road[0],
        on_road[1],
        on_road[2],
        on_road[3],
        car.joint_angle(0),
        wheels[2].gas,
        wheels[2].brake,
        visited / tiles.max(1.0),
        tiles - visited,
        // The step hidden in the reset is none of the caller's.
        ((race.time() / DT).round() - 1.0).max(0.0),
        track_distance,
        track_angle,
        bend_5,
        bend_10,
        bend_20,
    ]
    .map(|number| number as f32)
}

/// Distance from the path, whose point `nearest` that is, heading against it, and the bends ahead.
fn around(path: &[PathPoint], nearest: usize, position: [f64; 2], angle: f64) -> [f64; 2 + AHEAD.len()] {
    let here = &path[nearest];
    let offset = [position[0] - here.x, position[1] - here.y];
    let distance = dot(offset, [trig::cos(here.beta), trig::sin(here.beta)]);
    let [near, far, farther] =
        AHEAD.map(|tiles| wrapped(path[(nearest + tiles) % path.len()].beta - here.beta));
    [distance, wrapped(angle - here.beta), near, far, farther]
}

/// The same direction as an angle from -pi to pi.
fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

fn widened(vector: Vec2) -> [f64; 2] {
    [vector.x.into(), vector.y.into()]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// A path to the north that bends to the west after four points.
    fn path() -> Vec<PathPoint> {
        let point = |index: usize| {
            let (beta, x, y) =
                if index < 4 { (0.0, 0.0, index as f64) } else { (PI / 2.0, 3.0 - index as f64, 3.0) };
            PathPoint { alpha: 0.0, beta, x, y }
        };
        (0..40).map(point).collect()
    }

    #[test]
    fn right_of_the_road_is_positive_and_so_is_a_turn_to_the_left() {
        let [distance, angle, bend_5, bend_10, _] = around(&path(), 1, [0.5, 1.2], 0.25);
        assert_eq!([distance, angle, bend_5, bend_10], [0.5, 0.25, PI / 2.0, PI / 2.0]);
        let [distance, ..] = around(&path(), 13, [-10.0, 3.5], PI / 2.0);
        assert!((distance - 0.5).abs() < 1e-12, "{distance}");
    }

    #[test]
    fn angles_are_told_the_short_way_round() {
        let [_, angle, ..] = around(&path(), 0, [0.0, 0.0], 3.0 * PI + 0.5);
        assert!((angle - (0.5 - PI)).abs() < 1e-12, "{angle}");
        assert_eq!(wrapped(-7.0 * TAU), 0.0);
    }
}
