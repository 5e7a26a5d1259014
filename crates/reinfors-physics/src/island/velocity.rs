//! The velocity phase of an island, and how it ends early without changing a bit.
//!
//! Box2D runs a fixed number of iterations, 180 for the games here, although most of the time the sixth
//! already changes nothing that feeds back. What feeds back into the next iteration is the velocities and the
//! impulses of motors and limits. Once their bits repeat, with period one or two, every later iteration
//! repeats too. The impulses that hold the points together do not feed back, but each iteration adds to them
//! what it added one period ago, and they warm start the next step: so these additions, and nothing else, are
//! replayed one by one.

use reinfors_math::Vec2;
use reinfors_math::lanes::{Lanes, Mask};

use super::{Island, IslandDef, TimeStep, Wiring};
use crate::body::{MassLanes, Velocity, select};
use crate::joint::revolute::{Prepared, Revolute};

/// Iterations between two looks at whether the state repeats. Even, so that both periods end at a look.
const BURST: usize = 6;

/// Velocities and joints while they are iterated.
struct Iteration<'a, L: Lanes, const B: usize, const J: usize> {
    velocities: [Velocity<L>; B],
    joints: [Revolute<L>; J],
    masses: &'a [MassLanes<L>; B],
    prepared: [Prepared<L>; J],
}

/// What one iteration hands to the next.
#[derive(Clone, Copy)]
struct Feedback<L, const B: usize, const J: usize> {
    velocities: [Velocity<L>; B],
    motor_and_limit: [(L, L); J],
}

/// What one iteration adds to the impulse of each joint.
type Added<L, const J: usize> = [Vec2<L>; J];

impl<L: Lanes, const B: usize, const J: usize> Island<L, B, J> {
    /// Prepares the joints, applies the impulses of the last step, and iterates.
    pub(super) fn solve_velocities<W: Wiring<J>>(
        &mut self,
        def: &IslandDef<B, J>,
        masses: &[MassLanes<L>; B],
        step: &TimeStep,
    ) {
        let prepared = std::array::from_fn(|joint| {
            let (a, b) = W::LINKS[joint];
            let between = self.bodies[b].placement.angle - self.bodies[a].placement.angle;
            let rotations = (self.bodies[a].transform.rotation, self.bodies[b].transform.rotation);
            let masses = (masses[a], masses[b]);
            self.joints[joint].prepare(&def.joints[joint], masses, rotations, between, step.dt)
        });
        let mut iteration = Iteration {
            velocities: self.bodies.map(|body| body.velocity),
            joints: self.joints,
            masses,
            prepared,
        };
        iteration.warm_start::<W>();
        if step.stop_when_settled {
            iteration.run_until_settled::<W>(step.velocity_iterations);
        } else {
            iteration.run::<W>(step.velocity_iterations);
        }
        self.joints = iteration.joints;
        for (body, velocity) in self.bodies.iter_mut().zip(iteration.velocities) {
            body.velocity = velocity;
        }
    }
}

impl<L: Lanes, const B: usize, const J: usize> Iteration<'_, L, B, J> {
    fn warm_start<W: Wiring<J>>(&mut self) {
        for joint in W::ORDER {
            let (a, b) = W::LINKS[joint];
            let (mut velocity_a, mut velocity_b) = (self.velocities[a], self.velocities[b]);
            let masses = (self.masses[a], self.masses[b]);
            self.joints[joint].warm_start(&self.prepared[joint], masses, (&mut velocity_a, &mut velocity_b));
            (self.velocities[a], self.velocities[b]) = (velocity_a, velocity_b);
        }
    }

    #[inline(always)]
    fn run_once<W: Wiring<J>>(&mut self) -> Added<L, J> {
        let zero = L::splat(0.0);
        let mut added = [Vec2::new(zero, zero); J];
        for joint in W::ORDER {
            let (a, b) = W::LINKS[joint];
            let (mut velocity_a, mut velocity_b) = (self.velocities[a], self.velocities[b]);
            let masses = (self.masses[a], self.masses[b]);
            added[joint] = self.joints[joint].solve_velocity(
                &self.prepared[joint],
                masses,
                (&mut velocity_a, &mut velocity_b),
            );
            (self.velocities[a], self.velocities[b]) = (velocity_a, velocity_b);
        }
        added
    }

    fn run<W: Wiring<J>>(&mut self, iterations: usize) {
        for _ in 0..iterations {
            self.run_once::<W>();
        }
    }

    /// Ends with the bits that [`Iteration::run`] ends with.
    fn run_until_settled<W: Wiring<J>>(&mut self, iterations: usize) {
        let mut left = iterations;
        while left >= BURST {
            self.run::<W>(BURST - 2);
            let first = self.feedback();
            let added_first = self.run_once::<W>();
            let second = self.feedback();
            let added_second = self.run_once::<W>();
            let third = self.feedback();
            left -= BURST;

            let period_one = third.equals(&second);
            if (period_one | third.equals(&first)).all() {
                let odd = std::array::from_fn(|j| select(period_one, added_second[j], added_first[j]));
                return self.replay([odd, added_second], left);
            }
        }
        self.run::<W>(left);
    }

    fn feedback(&self) -> Feedback<L, B, J> {
        Feedback {
            velocities: self.velocities,
            motor_and_limit: self.joints.map(|joint| (joint.motor_impulse, joint.limit_impulse)),
        }
    }

    /// Adds what `count` iterations would add, `added[0]` and `added[1]` in turn.
    fn replay(&mut self, added: [Added<L, J>; 2], count: usize) {
        for index in 0..count {
            for (joint, more) in self.joints.iter_mut().zip(added[index % 2]) {
                joint.impulse += more;
            }
        }
    }
}

impl<L: Lanes, const B: usize, const J: usize> Feedback<L, B, J> {
    /// The lanes in which every bit is the same.
    fn equals(&self, other: &Self) -> L::Mask {
        let mut differs = L::Mask::splat(false);
        for (ours, theirs) in self.velocities.iter().zip(&other.velocities) {
            differs = differs
                | ours.linear.x.differs(theirs.linear.x)
                | ours.linear.y.differs(theirs.linear.y)
                | ours.angular.differs(theirs.angular);
        }
        for (ours, theirs) in self.motor_and_limit.iter().zip(&other.motor_and_limit) {
            differs = differs | ours.0.differs(theirs.0) | ours.1.differs(theirs.1);
        }
        !differs
    }
}
