//! The inner state of a race as named arrays, for tests, plots and debugging.

use super::car::WHEELS;
use super::race::Race;
use super::track::Part;
use reinfors_core::Inspected;
use reinfors_physics::body::Body;

/// Everything the reference lets one see of itself, in its own units, `f32` widened exactly.
pub fn quantities(race: &Race) -> Vec<Inspected> {
    let mut quantities = moving(race);
    quantities.extend(lying(race));
    quantities
}

fn array(name: &'static str, shape: &[usize], values: Vec<f64>) -> Inspected {
    Inspected { name, shape: shape.to_vec(), values }
}

fn flags(values: impl IntoIterator<Item = bool>) -> Vec<f64> {
    values.into_iter().map(|value| f64::from(u8::from(value))).collect()
}

/// x, y, angle, velocity in x and y, angular velocity.
fn motion(body: &Body) -> [f64; 6] {
    let (position, velocity) = (body.transform.position, body.velocity);
    let angle = body.placement.angle;
    [position.x, position.y, angle, velocity.linear.x, velocity.linear.y, velocity.angular].map(f64::from)
}

/// The car and what changes at each step.
fn moving(race: &Race) -> Vec<Inspected> {
    let (car, contacts) = (race.car(), race.contacts());
    let tiles = race.track().points().len();
    let mut wheels = Vec::new();
    let mut touched = vec![false; WHEELS * tiles];
    for (index, wheel) in car.wheels().iter().enumerate() {
        wheels.extend(motion(car.wheel_body(index)));
        let motor_speed = f64::from(car.motor_speed(index));
        wheels.extend([wheel.omega, wheel.phase, wheel.gas, car.joint_angle(index), motor_speed]);
        for tile in contacts.tiles_of_wheel(index) {
            touched[index * tiles + tile] = true;
        }
    }
    let mut skids = Vec::new();
    for (index, mark) in car.skids().iter().enumerate() {
        let on_grass = f64::from(u8::from(mark.on_grass));
        skids.extend(mark.points().iter().flat_map(|&[x, y]| [index as f64, on_grass, x, y]));
    }
    vec![
        array("hull", &[6], motion(car.hull()).to_vec()),
        array("awake", &[], flags([!car.is_asleep()])),
        array("wheels", &[WHEELS, 11], wheels),
        array("wheel_tiles", &[WHEELS, tiles], flags(touched)),
        array("visited", &[tiles], flags(contacts.visited().iter().copied())),
        array("painted", &[tiles], flags(contacts.painted().iter().copied())),
        array("skids", &[skids.len() / 4, 4], skids),
        array("score", &[], vec![race.score()]),
        array("time", &[], vec![race.time()]),
    ]
}

/// The track and its colours, which a reset makes.
fn lying(race: &Race) -> Vec<Inspected> {
    let (track, colours) = (race.track(), race.colours());
    let path = track.points().iter().flat_map(|point| [point.alpha, point.beta, point.x, point.y]);
    let parts = track.parts();
    let part = parts.iter().flat_map(|part| match *part {
        Part::Tile(tile) => [tile as f64, 0.0],
        Part::Kerb(tile) => [tile as f64, 1.0],
    });
    let quads = track.quads().as_flattened().as_flattened().to_vec();
    let road_colours = race.road_colours().as_flattened().iter().map(|&channel| f64::from(channel));
    vec![
        array("track", &[track.points().len(), 4], path.collect()),
        array("attempts", &[], vec![f64::from(track.attempts())]),
        array("road", &[parts.len(), 4, 2], quads),
        array("road_parts", &[parts.len(), 2], part.collect()),
        array("road_colors", &[parts.len(), 3], road_colours.collect()),
        array("colors", &[3, 3], [colours.road, colours.background, colours.grass].as_flattened().to_vec()),
    ]
}
