//! An island: bodies tied by joints, advanced together as `b2Island::Solve` does.
//!
//! 1. Order is everything: integrate velocities, prepare, warm start, velocity iterations, integrate
//!    positions, position iterations, transforms, sleep; and within each phase the joints in the order in
//!    which Box2D's island holds them.
//! 2. Written once over lanes. Lanes do not see each other: each gets the bits it would get alone.
//! 3. Velocity iterations stop as soon as the rest is known to repeat (see `velocity.rs`); that changes no
//!    bit.
//!
//! Contacts with response, damping and gravity scales are left out: no game here needs them.

mod packs;
mod position;
mod velocity;

use reinfors_math::lanes::Lanes;
use reinfors_math::{Vec2, per_lane};
use serde::{Deserialize, Serialize};

use crate::body::{Body, MassData, MassLanes, splat};
use crate::joint::revolute::{Revolute, RevoluteDef};
pub use packs::Packs;
use velocity::Iteration;

/// Which bodies the joints tie, known when compiling so that the solver's loops unroll.
pub trait Wiring<const J: usize> {
    /// The indices of body A and body B of each joint.
    const LINKS: [(usize, usize); J];

    /// The joints in the order in which Box2D's island holds them.
    const ORDER: [usize; J];
}

/// What never changes about an island of `B` bodies and `J` joints.
#[derive(Clone, Debug, PartialEq)]
pub struct IslandDef<const B: usize, const J: usize> {
    /// Mass data of each body.
    pub masses: [MassData; B],
    /// Definition of each joint.
    pub joints: [RevoluteDef; J],
    /// Acceleration of every body, metres per second squared.
    pub gravity: Vec2,
}

/// The arguments of `b2World::Step`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeStep {
    /// Duration in seconds.
    pub dt: f32,
    /// Number of velocity iterations.
    pub velocity_iterations: usize,
    /// Most position iterations.
    pub position_iterations: usize,
    /// Whether to replace velocity iterations that are known to repeat by their known result. The bits are
    /// the same; only a proof of that has a use for `false`.
    pub stop_when_settled: bool,
}

/// The state of `B` bodies and `J` joints, in one world per lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "[Body<L>; B]: Serialize, [Revolute<L>; J]: Serialize, L::Mask: Serialize",
    deserialize = "[Body<L>; B]: Deserialize<'de>, [Revolute<L>; J]: Deserialize<'de>, \
                   L::Mask: Deserialize<'de>"
))]
pub struct Island<L: Lanes, const B: usize, const J: usize> {
    /// The bodies.
    pub bodies: [Body<L>; B],
    /// The joints.
    pub joints: [Revolute<L>; J],
    /// Lanes that the last step put to sleep. Applying a force or setting a motor wakes them, which is the
    /// caller's to say.
    pub asleep: L::Mask,
}

per_lane!(Island<L, B, J> { bodies, joints, asleep });

impl<L: Lanes, const B: usize, const J: usize> Island<L, B, J> {
    /// Advances every lane by one step and clears forces and torques.
    #[inline(always)]
    pub fn step<W: Wiring<J>>(&mut self, def: &IslandDef<B, J>, step: &TimeStep) {
        let masses = def.masses.each_ref().map(MassLanes::splat);
        self.integrate_velocities(&masses, def.gravity, step.dt);
        let mut iteration = Iteration::begin::<W>(self, def, &masses, step.dt);
        iteration.run::<W>(&masses, step);
        iteration.end(self);
        self.settle_positions::<W>(def, &masses, step);
    }

    #[inline(always)]
    fn integrate_velocities(&mut self, masses: &[MassLanes<L>; B], gravity: Vec2, dt: f32) {
        let (gravity, dt) = (splat::<L>(gravity), L::splat(dt));
        let zero = L::splat(0.0);
        for (body, mass) in self.bodies.iter_mut().zip(masses) {
            body.velocity.linear += (gravity + body.force * mass.inverse_mass) * dt;
            body.velocity.angular = body.velocity.angular + dt * mass.inverse_inertia * body.torque;
            body.force = Vec2::new(zero, zero);
            body.torque = zero;
        }
    }
}

#[cfg(test)]
mod tests;
