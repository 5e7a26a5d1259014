//! The car: a hull and four wheels in the physics, and the drive model that pushes them (`car_dynamics.py`).
//!
//! The drive model is double precision and the physics single: what is read from a body is widened, what is
//! written to it is rounded, exactly where the reference crosses from Python to Box2D and back.

mod model;

use reinfors_math::Vec2;
use reinfors_physics::body::Body;
use reinfors_physics::collide::Placed;
use reinfors_physics::island::Island;
use reinfors_physics::joint::revolute::Revolute;
use serde::{Deserialize, Serialize};

use super::skid::{SkidMarks, SkidTrail};
use super::track::{PathPoint, sign};
pub use model::{BODIES, CAR_MODEL, HULL_PARTS, TIME_STEP, WHEELS, WheelsOnHull};
use model::{SIZE, WHEEL_POSITIONS, WHEEL_RADIUS};

/// `1 / FPS`: duration of a step, seconds.
pub const DT: f64 = 1.0 / 50.0;

const ENGINE_POWER: f64 = 100_000_000.0 * SIZE * SIZE;
const WHEEL_MOMENT_OF_INERTIA: f64 = 4000.0 * SIZE * SIZE;
/// `FRICTION_LIMIT`: the most force that a wheel passes to the road; grass takes six tenths of it.
const ROAD_FRICTION: f64 = 1_000_000.0 * SIZE * SIZE;
const GRASS_FRICTION: f64 = ROAD_FRICTION * 0.6;
/// Force per metre a second by which a wheel slips.
const SLIP_STIFFNESS: f64 = 205_000.0 * SIZE * SIZE;
/// `BRAKE_FORCE`, radians per second.
const BRAKE_FORCE: f64 = 15.0;
/// From here on the brake blocks the wheels.
const BRAKE_LOCK: f64 = 0.9;
/// The most that the gas rises in one step.
const GAS_RISE: f64 = 0.1;

/// Fixtures of the car, numbered: the parts of the hull, then the wheels.
pub const PARTS: usize = HULL_PARTS + WHEELS;

/// What the driver does. Values outside the bounds mean what they mean to the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// -1 is full left, 1 full right.
    pub steer: f64,
    /// 0 to 1, clipped.
    pub gas: f64,
    /// 0 to 1, not clipped: from 0.9 on the wheels block, and nothing happens below 0.
    pub brake: f64,
}

/// The drive model's state of one wheel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wheel {
    /// Spin about the axle, radians per second.
    pub omega: f64,
    /// Turn about the axle, radians.
    pub phase: f64,
    /// Gas that reaches the wheel, 0 to 1; always 0 for front wheels.
    pub gas: f64,
    /// Brake as last set.
    pub brake: f64,
    /// Angle that the wheel steers for, radians, positive to the left; always 0 for rear wheels.
    pub steer: f64,
    trail: SkidTrail,
}

/// Bodies and joints of a car.
pub type CarIsland = Island<f32, BODIES, WHEELS>;

/// A car.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Car {
    island: CarIsland,
    wheels: [Wheel; WHEELS],
    skids: SkidMarks,
}

impl Car {
    /// A car at rest on a point of the path. The wheels' places are not turned with the car, as in the
    /// reference: the joints pull them in during the first steps.
    pub fn at(start: &PathPoint) -> Self {
        let angle = start.beta as f32;
        let [hull_mass, wheel_mass, ..] = &CAR_MODEL.island.masses;
        let bodies = std::array::from_fn(|index| match index {
            0 => Body::at_rest(Vec2::new(start.x as f32, start.y as f32), angle, hull_mass),
            _ => {
                let (x, y) = WHEEL_POSITIONS[index - 1];
                let position = Vec2::new((start.x + x * SIZE) as f32, (start.y + y * SIZE) as f32);
                Body::at_rest(position, angle, wheel_mass)
            }
        });
        Self {
            island: Island { bodies, joints: [Revolute::IDLE; WHEELS], asleep: false },
            wheels: Default::default(),
            skids: SkidMarks::default(),
        }
    }

    /// Sets steering, gas and brake (`Car.steer`, `Car.gas`, `Car.brake`). The gas rises gradually and falls
    /// at once.
    pub fn control(&mut self, control: Control) {
        let gas = control.gas.clamp(0.0, 1.0);
        let [front_left, front_right, rear_left, rear_right] = &mut self.wheels;
        for wheel in [front_left, front_right] {
            wheel.steer = -control.steer;
        }
        for wheel in [rear_left, rear_right] {
            wheel.gas += (gas - wheel.gas).min(GAS_RISE);
        }
        for wheel in &mut self.wheels {
            wheel.brake = control.brake;
        }
    }

    /// Turns controls into forces and motor speeds (`Car.step`), given which wheels touch the road.
    pub fn drive(&mut self, on_road: [bool; WHEELS]) {
        for (index, on_road) in on_road.into_iter().enumerate() {
            let angle = self.joint_angle(index);
            let body = &mut self.island.bodies[1 + index];
            let wheel = &mut self.wheels[index];

            let off = wheel.steer - angle;
            self.island.joints[index].motor_speed = (sign(off) * (50.0 * off.abs()).min(3.0)) as f32;

            wheel.spin();
            let friction = if on_road { ROAD_FRICTION } else { GRASS_FRICTION };
            let (force, slips) = wheel.grip_road(body, friction);
            if slips {
                let Vec2 { x, y } = body.transform.position;
                self.skids.slip(&mut wheel.trail, [x.into(), y.into()], !on_road);
            } else {
                wheel.trail.grip();
            }
            body.force += Vec2::new(force[0] as f32, force[1] as f32);
        }
    }

    /// Advances the physics by one step.
    pub fn advance(&mut self) {
        self.island.step::<WheelsOnHull>(&CAR_MODEL.island, &TIME_STEP);
    }

    /// Bodies and joints, for the physics to move together with those of other cars.
    pub(super) fn island_mut(&mut self) -> &mut CarIsland {
        &mut self.island
    }

    /// The fixtures of the car where they are: the parts of the hull, then the wheels.
    #[inline(always)]
    pub fn parts(&self) -> Placed<'_, PARTS> {
        let hull = &self.hull().transform;
        let model = &*CAR_MODEL;
        Placed::new(std::array::from_fn(|index| match index.checked_sub(HULL_PARTS) {
            None => (&model.hull[index], hull),
            Some(wheel) => (&model.wheel, &self.wheel_body(wheel).transform),
        }))
    }

    /// The body of the hull.
    pub fn hull(&self) -> &Body {
        &self.island.bodies[0]
    }

    /// The body of a wheel: front left, front right, rear left, rear right.
    pub fn wheel_body(&self, index: usize) -> &Body {
        &self.island.bodies[1 + index]
    }

    /// The drive model's state of the wheels.
    pub fn wheels(&self) -> &[Wheel; WHEELS] {
        &self.wheels
    }

    /// Angle of a wheel against the hull, radians (`b2RevoluteJoint::GetJointAngle`).
    pub fn joint_angle(&self, index: usize) -> f64 {
        f64::from(self.wheel_body(index).placement.angle - self.hull().placement.angle)
    }

    /// Speed at which a wheel is being steered, radians per second.
    pub fn motor_speed(&self, index: usize) -> f32 {
        self.island.joints[index].motor_speed
    }

    /// Whether the last step put the car to sleep.
    pub fn is_asleep(&self) -> bool {
        self.island.asleep
    }

    /// The marks that slipping wheels left.
    pub fn skids(&self) -> &SkidMarks {
        &self.skids
    }
}

impl Wheel {
    /// Lets engine and brake act on the spin, and the spin on the phase.
    fn spin(&mut self) {
        self.omega += DT * ENGINE_POWER * self.gas / WHEEL_MOMENT_OF_INERTIA / (self.omega.abs() + 5.0);
        if self.brake >= BRAKE_LOCK {
            self.omega = 0.0;
        } else if self.brake > 0.0 {
            let slowing = (BRAKE_FORCE * self.brake).min(self.omega.abs());
            self.omega += -sign(self.omega) * slowing;
        }
        self.phase += self.omega * DT;
    }

    /// The force of the ground on the wheel, and whether the wheel slips enough to leave a mark. The spin
    /// takes the reaction.
    fn grip_road(&mut self, body: &Body, friction: f64) -> ([f64; 2], bool) {
        let widen = |vector: Vec2| [f64::from(vector.x), f64::from(vector.y)];
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let rotation = body.transform.rotation;
        let forward = widen(rotation.rotate(Vec2::new(0.0, 1.0)));
        let sideways = widen(rotation.rotate(Vec2::new(1.0, 0.0)));
        let velocity = widen(body.velocity.linear);

        let mut ahead = -dot(forward, velocity) + self.omega * WHEEL_RADIUS;
        let mut aside = -dot(sideways, velocity);
        ahead *= SLIP_STIFFNESS;
        aside *= SLIP_STIFFNESS;
        let wanted = (ahead * ahead + aside * aside).sqrt();
        if wanted > friction {
            ahead = ahead / wanted * friction;
            aside = aside / wanted * friction;
        }
        self.omega -= DT * ahead * WHEEL_RADIUS / WHEEL_MOMENT_OF_INERTIA;
        let force = std::array::from_fn(|axis| aside * sideways[axis] + ahead * forward[axis]);
        (force, wanted > 2.0 * friction)
    }
}
