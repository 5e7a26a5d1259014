//! The car's constants: shapes, masses and joints of hull and wheels, from `car_dynamics.py`.

use std::sync::LazyLock;

use reinfors_math::Vec2;
use reinfors_physics::body::MassData;
use reinfors_physics::collide::Convex;
use reinfors_physics::island::{IslandDef, TimeStep, Wiring};
use reinfors_physics::joint::revolute::RevoluteDef;
use reinfors_physics::shape::Polygon;

/// `SIZE`: a unit of the reference's drawing, metres.
pub const SIZE: f64 = 0.02;
/// Number of wheels: front left, front right, rear left, rear right.
pub const WHEELS: usize = 4;
/// Number of polygons that make up the hull.
pub const HULL_PARTS: usize = 4;
/// Bodies of the car: the hull, then the wheels.
pub const BODIES: usize = 1 + WHEELS;
/// `WHEEL_R` in metres.
pub const WHEEL_RADIUS: f64 = 27.0 * SIZE;

/// `WHEELPOS`: where the wheels sit on the hull, in units of [`SIZE`].
pub const WHEEL_POSITIONS: [(f64, f64); WHEELS] =
    [(-55.0, 80.0), (55.0, 80.0), (-55.0, -82.0), (55.0, -82.0)];

/// `HULL_POLY1` to `HULL_POLY4`, in units of [`SIZE`].
const HULL: [&[(f64, f64)]; HULL_PARTS] = [
    &[(-60.0, 130.0), (60.0, 130.0), (60.0, 110.0), (-60.0, 110.0)],
    &[(-15.0, 120.0), (15.0, 120.0), (20.0, 20.0), (-20.0, 20.0)],
    &[
        (25.0, 20.0),
        (50.0, -10.0),
        (50.0, -40.0),
        (20.0, -90.0),
        (-20.0, -90.0),
        (-50.0, -40.0),
        (-50.0, -10.0),
        (-25.0, 20.0),
    ],
    &[(-50.0, -120.0), (50.0, -120.0), (50.0, -90.0), (-50.0, -90.0)],
];

/// `WHEEL_POLY`, in units of [`SIZE`].
const WHEEL: &[(f64, f64)] = &[(-14.0, 27.0), (14.0, 27.0), (14.0, -27.0), (-14.0, -27.0)];

const HULL_DENSITY: f32 = 1.0;
const WHEEL_DENSITY: f32 = 0.1;

/// Farthest that a front wheel steers to either side, radians. The rear wheels' joints have the same limits.
const STEERING_LIMIT: f32 = 0.4;
const MAX_MOTOR_TORQUE: f64 = 180.0 * 900.0 * SIZE * SIZE;

/// `world.Step(1.0 / FPS, 6 * 30, 2 * 30)`.
pub const TIME_STEP: TimeStep = TimeStep {
    dt: super::DT as f32,
    velocity_iterations: 6 * 30,
    position_iterations: 2 * 30,
    stop_when_settled: true,
};

/// One joint per wheel, in the wheels' order; Box2D's island meets the joint made last first.
pub struct WheelsOnHull;

impl Wiring<WHEELS> for WheelsOnHull {
    const LINKS: [(usize, usize); WHEELS] = [(0, 1), (0, 2), (0, 3), (0, 4)];
    const ORDER: [usize; WHEELS] = [3, 2, 1, 0];
}

/// What all cars have in common.
pub struct CarModel {
    /// Mass data and joints.
    pub island: IslandDef<BODIES, WHEELS>,
    /// Fixtures of the hull.
    pub hull: [Convex; HULL_PARTS],
    /// Fixture of each wheel.
    pub wheel: Convex,
}

/// The one model.
pub static CAR_MODEL: LazyLock<CarModel> = LazyLock::new(|| {
    let hull = HULL.map(polygon);
    let wheel = polygon(WHEEL);
    let hull_mass = MassData::of_fixtures(&hull.each_ref().map(|part| (part, HULL_DENSITY)));
    let wheel_mass = MassData::of_fixtures(&[(&wheel, WHEEL_DENSITY)]);
    let joints = WHEEL_POSITIONS.map(|position| RevoluteDef {
        anchor_a: scaled(position),
        anchor_b: Vec2::ZERO,
        reference_angle: 0.0,
        lower_angle: -STEERING_LIMIT,
        upper_angle: STEERING_LIMIT,
        max_motor_torque: MAX_MOTOR_TORQUE as f32,
    });
    let masses = [hull_mass, wheel_mass, wheel_mass, wheel_mass, wheel_mass];
    CarModel {
        island: IslandDef { masses, joints, gravity: Vec2::ZERO },
        hull: hull.map(Convex::from),
        wheel: Convex::from(wheel),
    }
});

fn polygon(points: &[(f64, f64)]) -> Polygon {
    Polygon::hull(&points.iter().copied().map(scaled).collect::<Vec<_>>())
}

/// A point in metres, scaled in double precision and then rounded, as the reference passes it to Box2D.
fn scaled((x, y): (f64, f64)) -> Vec2 {
    Vec2::new((x * SIZE) as f32, (y * SIZE) as f32)
}

#[cfg(test)]
mod tests {
    use super::CAR_MODEL;

    #[test]
    fn masses_equal_the_reference() {
        let [hull, wheel, ..] = CAR_MODEL.island.masses;
        assert_eq!((1.0 / hull.inverse_mass, 1.0 / wheel.inverse_mass), (7.06, 0.060_480_006));
        assert_eq!((hull.local_center.x, hull.local_center.y), (1.477_452_4e-9, -0.082_530_886));
        assert_eq!((wheel.local_center.x, wheel.local_center.y), (0.0, 0.0));
    }
}
