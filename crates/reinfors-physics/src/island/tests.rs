//! A cart of a hull and two wheels on motors, pushed about at random: lanes and the early end must not change
//! a bit.

use reinfors_math::Vec2;
use reinfors_math::cpu::Level;
use reinfors_math::lanes::{Lanes, Pack, PerLane};

use super::{Island, IslandDef, Packs, TimeStep, Wiring};
use crate::body::{Body, MassData};
use crate::joint::revolute::{Revolute, RevoluteDef};
use crate::shape::Polygon;

struct TwoWheels;

impl Wiring<2> for TwoWheels {
    const LINKS: [(usize, usize); 2] = [(0, 1), (0, 2)];
    const ORDER: [usize; 2] = [1, 0];
}

type Cart<L> = Island<L, 3, 2>;

const STEP: TimeStep =
    TimeStep { dt: 0.02, velocity_iterations: 180, position_iterations: 60, stop_when_settled: true };
const ALL_ITERATIONS: TimeStep = TimeStep { stop_when_settled: false, ..STEP };

/// A number of iterations that no bursts of even length add up to.
const ODD: TimeStep = TimeStep { velocity_iterations: 179, ..STEP };

const ANCHORS: [Vec2; 2] = [Vec2::new(0.0, 1.6), Vec2::new(0.1, -1.7)];

fn rectangle(half_width: f32, half_height: f32) -> Polygon {
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    Polygon::hull(&corners.map(|(x, y)| Vec2::new(half_width * x, half_height * y)))
}

fn definition() -> IslandDef<3, 2> {
    let hull = MassData::of_fixtures(&[(&rectangle(1.0, 2.0), 1.0), (&rectangle(0.5, 2.5), 0.5)]);
    let wheel = MassData::of_fixtures(&[(&rectangle(0.28, 0.54), 0.1)]);
    let joints = ANCHORS.map(|anchor| RevoluteDef {
        anchor_a: anchor,
        anchor_b: Vec2::new(0.0, 0.05),
        reference_angle: 0.0,
        lower_angle: -0.4,
        upper_angle: 0.4,
        max_motor_torque: 65.0,
    });
    IslandDef { masses: [hull, wheel, wheel], joints, gravity: Vec2::new(0.0, -0.5) }
}

fn cart_at_rest(def: &IslandDef<3, 2>) -> Cart<f32> {
    let wheel = |anchor: Vec2| Body::at_rest(anchor + Vec2::new(5.0, -0.05), 0.0, &def.masses[1]);
    let hull = Body::at_rest(Vec2::new(5.0, 0.0), 0.0, &def.masses[0]);
    Island {
        bodies: [hull, wheel(ANCHORS[0]), wheel(ANCHORS[1])],
        joints: [Revolute::IDLE; 2],
        asleep: false,
    }
}

/// Pushes and motor speeds of one cart. The quality of the numbers does not matter.
struct Driver(u32);

impl Driver {
    fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (high - low) * (self.0 >> 8) as f32 / (1 << 24) as f32
    }

    fn push(&mut self, cart: &mut Cart<f32>, time: usize) {
        // Now and then a cart is left alone, and now and then it is kicked beyond the speed limits.
        let strength = match (time / 60) % 4 {
            0 => 0.0,
            3 => 4000.0,
            _ => 100.0,
        };
        for body in &mut cart.bodies {
            body.force = Vec2::new(self.between(-strength, strength), self.between(-strength, strength));
        }
        for joint in &mut cart.joints {
            joint.motor_speed = if strength == 0.0 { 0.0 } else { self.between(-3.0, 3.0) };
        }
    }
}

fn bits(cart: &Cart<f32>) -> Vec<u32> {
    let mut numbers = Vec::new();
    for body in &cart.bodies {
        let (placement, velocity) = (body.placement, body.velocity);
        let rotation = body.transform.rotation;
        numbers.extend([placement.center.x, placement.center.y, placement.angle]);
        numbers.extend([velocity.linear.x, velocity.linear.y, velocity.angular]);
        numbers.extend([body.transform.position.x, body.transform.position.y]);
        numbers.extend([rotation.sin, rotation.cos, body.still_time]);
    }
    for joint in &cart.joints {
        numbers.extend([joint.impulse.x, joint.impulse.y, joint.motor_impulse, joint.limit_impulse]);
    }
    numbers.into_iter().map(f32::to_bits).collect()
}

/// Drives as many carts as `L` has lanes alone and in lanes, and expects the same bits after every step.
fn lanes_equal_single_carts<L: Lanes>() {
    let def = definition();
    let mut alone = vec![cart_at_rest(&def); L::COUNT];
    let mut together = Cart::<L>::splat(cart_at_rest(&def));
    let mut drivers: Vec<_> = (0..L::COUNT as u32).map(Driver).collect();
    for time in 0..600 {
        for (index, cart) in alone.iter_mut().enumerate() {
            // Lanes differ in what they go through, too.
            drivers[index].push(cart, time + 60 * index);
        }
        for (index, cart) in alone.iter().enumerate() {
            for body in 0..3 {
                together.bodies[body].force.x.set(index, cart.bodies[body].force.x);
                together.bodies[body].force.y.set(index, cart.bodies[body].force.y);
            }
            for joint in 0..2 {
                together.joints[joint].motor_speed.set(index, cart.joints[joint].motor_speed);
            }
        }
        together.step::<TwoWheels>(&def, &STEP);
        for (index, cart) in alone.iter_mut().enumerate() {
            cart.step::<TwoWheels>(&def, &STEP);
            assert_eq!(bits(&together.get(index)), bits(cart), "lane {index} at step {time}");
            assert_eq!(together.asleep.get(index), cart.asleep);
        }
    }
}

#[test]
fn four_and_eight_lanes_equal_single_islands() {
    lanes_equal_single_carts::<Pack<4>>();
    lanes_equal_single_carts::<Pack<8>>();
}

/// Drives `count` carts alone, ending early, and in packs, and expects the same bits after every step.
fn packs_equal_single_carts(count: usize, step: &TimeStep, level: Level) {
    let def = definition();
    let mut alone = vec![cart_at_rest(&def); count];
    let mut drivers: Vec<_> = (0..count as u32).map(Driver).collect();
    let mut packs = Packs::<4, 3, 2>::default();
    let early = TimeStep { stop_when_settled: true, ..*step };
    for time in 0..300 {
        packs.clear();
        for (index, (cart, driver)) in alone.iter_mut().zip(&mut drivers).enumerate() {
            driver.push(cart, time + 60 * index);
            packs.push(cart);
            cart.step::<TwoWheels>(&def, &early);
        }
        packs.step::<TwoWheels>(&def, step, level);
        for (index, cart) in alone.iter().enumerate() {
            assert_eq!(bits(&packs.get(index)), bits(cart), "cart {index} of {count} at step {time}");
            assert_eq!(packs.get(index), *cart);
        }
    }
}

#[test]
fn packs_of_any_number_at_any_level_equal_single_islands() {
    for level in Level::available() {
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 13, 40] {
            packs_equal_single_carts(count, &STEP, level);
        }
        packs_equal_single_carts(7, &ALL_ITERATIONS, level);
        packs_equal_single_carts(9, &ODD, level);
    }
}

/// Drives a cart that ends its iterations early and one that does not, expects the same bits after every
/// step, and returns how many steps were at a limit.
fn ending_early_changes_no_bit_of(step: &TimeStep, seed: u32) -> usize {
    let def = definition();
    let (mut early, mut full) = (cart_at_rest(&def), cart_at_rest(&def));
    let (mut driver_early, mut driver_full) = (Driver(seed), Driver(seed));
    let mut at_limit = 0;
    for time in 0..300 {
        driver_early.push(&mut early, time);
        driver_full.push(&mut full, time);
        early.step::<TwoWheels>(&def, step);
        full.step::<TwoWheels>(&def, &TimeStep { stop_when_settled: false, ..*step });
        let iterations = step.velocity_iterations;
        assert_eq!(bits(&early), bits(&full), "seed {seed} at step {time} of {iterations} iterations");
        at_limit += usize::from(full.joints.iter().any(|joint| joint.at_lower | joint.at_upper));
    }
    at_limit
}

#[test]
fn ending_early_changes_no_bit() {
    let at_limit: usize = (0..20).map(|seed| ending_early_changes_no_bit_of(&STEP, seed)).sum();
    assert!(at_limit > 100, "{at_limit} steps at a limit");
    for seed in 0..5 {
        ending_early_changes_no_bit_of(&ODD, seed);
    }
}

#[test]
fn speeds_are_limited_per_step() {
    let def = definition();
    let mut cart = cart_at_rest(&def);
    cart.bodies[0].velocity.linear = Vec2::new(1e4, 0.0);
    let start = cart.bodies[0].placement.center;
    cart.step::<TwoWheels>(
        &IslandDef { gravity: Vec2::ZERO, ..def },
        &TimeStep { position_iterations: 0, ..STEP },
    );
    assert!((cart.bodies[0].placement.center - start).length_squared() <= 2.001 * 2.001);
}

#[test]
fn an_island_left_alone_falls_asleep_after_half_a_second() {
    let def = IslandDef { gravity: Vec2::ZERO, ..definition() };
    let mut cart = cart_at_rest(&def);
    let steps = (1..).find(|_| {
        cart.step::<TwoWheels>(&def, &STEP);
        cart.asleep
    });
    assert_eq!(steps, Some(25));
}
