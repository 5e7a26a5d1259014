//! The velocity phase of an island, and how it ends early without changing a bit.
//!
//! Box2D runs a fixed number of iterations, 180 for the games here, although most of the time the sixth
//! already changes nothing that feeds back. What feeds back into the next iteration is the velocities and the
//! impulses of motors and limits. Once their bits repeat, with period one or two, every later iteration
//! repeats too. The impulses that hold the points together do not feed back, but each iteration adds to them
//! what it added one period ago, and they warm start the next step: so these additions, and nothing else, are
//! replayed one by one.
//!
//! A state of period two is handed back as it is, so that what is replayed is whole periods: where the number
//! of iterations is odd, the first burst is longer by one.

use reinfors_math::lanes::{Lanes, Mask, PerLane};
use reinfors_math::{Vec2, per_lane};

use super::{Island, IslandDef, TimeStep, Wiring};
use crate::body::{MassLanes, Velocity, select};
use crate::joint::revolute::{Prepared, Revolute};

/// Iterations of an island on its own between two looks at whether the state repeats; even.
const BURST: usize = 6;

/// Velocities and joints while they are iterated.
#[derive(Clone, Copy)]
pub(super) struct Iteration<L: Lanes, const B: usize, const J: usize> {
    velocities: [Velocity<L>; B],
    joints: [Revolute<L>; J],
    prepared: [Prepared<L>; J],
}

per_lane!(Iteration<L, B, J> { velocities, joints, prepared });

/// What one iteration hands to the next.
#[derive(Clone, Copy)]
struct Feedback<L, const B: usize, const J: usize> {
    velocities: [Velocity<L>; B],
    motors: [L; J],
    limits: [L; J],
}

/// What one iteration adds to the impulse of each joint.
type Added<L, const J: usize> = [Vec2<L>; J];

/// What the iterations after a burst are known to do.
pub(super) struct Forecast<L: Lanes, const J: usize> {
    /// Lanes whose state repeats. The others are not known.
    pub settled: L::Mask,
    /// What the next iteration adds, and the one after it, and so on in turn.
    added: [Added<L, J>; 2],
}

impl<L: Lanes, const B: usize, const J: usize> Iteration<L, B, J> {
    /// Prepares the joints and applies the impulses of the last step.
    #[inline(always)]
    pub(super) fn begin<W: Wiring<J>>(
        island: &Island<L, B, J>,
        def: &IslandDef<B, J>,
        masses: &[MassLanes<L>; B],
        dt: f32,
    ) -> Self {
        let mut joints = island.joints;
        let prepared = std::array::from_fn(|joint| {
            let (a, b) = W::LINKS[joint];
            let (body_a, body_b) = (&island.bodies[a], &island.bodies[b]);
            let between = body_b.placement.angle - body_a.placement.angle;
            let rotations = (body_a.transform.rotation, body_b.transform.rotation);
            joints[joint].prepare(&def.joints[joint], (masses[a], masses[b]), rotations, between, dt)
        });
        let mut iteration =
            Self { velocities: island.bodies.each_ref().map(|body| body.velocity), joints, prepared };
        iteration.warm_start::<W>(masses);
        iteration
    }

    #[inline(always)]
    fn warm_start<W: Wiring<J>>(&mut self, masses: &[MassLanes<L>; B]) {
        for joint in W::ORDER {
            let (a, b) = W::LINKS[joint];
            let (mut velocity_a, mut velocity_b) = (self.velocities[a], self.velocities[b]);
            let masses = (masses[a], masses[b]);
            self.joints[joint].warm_start(&self.prepared[joint], masses, (&mut velocity_a, &mut velocity_b));
            (self.velocities[a], self.velocities[b]) = (velocity_a, velocity_b);
        }
    }

    /// Hands the result back to the island.
    #[inline(always)]
    pub(super) fn end(self, island: &mut Island<L, B, J>) {
        island.joints = self.joints;
        for (body, velocity) in island.bodies.iter_mut().zip(self.velocities) {
            body.velocity = velocity;
        }
    }

    /// All iterations of a step, in bits; in fewer if every lane settles early.
    #[inline(always)]
    pub(super) fn run<W: Wiring<J>>(&mut self, masses: &[MassLanes<L>; B], step: &TimeStep) {
        let mut left = step.velocity_iterations;
        while left > 0 {
            let burst = if step.stop_when_settled { left.min(BURST + left % 2) } else { left };
            let [forecast] = Self::run_burst::<W, 1>(std::array::from_mut(self), masses, burst);
            left -= burst;
            if step.stop_when_settled && forecast.settled.all() {
                return self.replay(&forecast, left);
            }
        }
    }

    /// Runs `count` iterations of each in `group` and looks whether the last two repeat what was before. An
    /// iteration is one long chain of operations that wait for each other: those of a group run side by side.
    #[inline(always)]
    pub(super) fn run_burst<W: Wiring<J>, const M: usize>(
        group: &mut [Self; M],
        masses: &[MassLanes<L>; B],
        count: usize,
    ) -> [Forecast<L, J>; M] {
        let mut some_at_limit = [[false; J]; M];
        for (one, some_at_limit) in group.iter().zip(&mut some_at_limit) {
            for (joint, some_at_limit) in one.joints.iter().zip(some_at_limit) {
                *some_at_limit = joint.at_limit().any();
            }
        }
        // The states before the last two iterations, and what those add: even and odd ones take turns.
        let mut before = [Self::feedbacks(group); 2];
        let mut added = [[[Vec2::new(L::splat(0.0), L::splat(0.0)); J]; M]; 2];
        for index in 0..count {
            if index + 2 >= count {
                before[index % 2] = Self::feedbacks(group);
            }
            Self::run_once::<W, M>(group, masses, &some_at_limit, &mut added[index % 2]);
        }
        let [first, second] = [count % 2, (count + 1) % 2];
        std::array::from_fn(|m| {
            group[m]
                .look_ahead([&before[first][m], &before[second][m]], [&added[first][m], &added[second][m]])
        })
    }

    #[inline(always)]
    fn run_once<W: Wiring<J>, const M: usize>(
        group: &mut [Self; M],
        masses: &[MassLanes<L>; B],
        some_at_limit: &[[bool; J]; M],
        added: &mut [Added<L, J>; M],
    ) {
        for joint in W::ORDER {
            for m in 0..M {
                added[m][joint] = group[m].solve_joint::<W>(joint, masses, some_at_limit[m][joint]);
            }
        }
    }

    /// What is known after two iterations that began with the states `before` and `added` to the impulses.
    #[inline(always)]
    fn look_ahead(&self, before: [&Feedback<L, B, J>; 2], added: [&Added<L, J>; 2]) -> Forecast<L, J> {
        let now = self.feedback();
        let period_one = now.equals(before[1]);
        let mut next = *added[0];
        for (next, second) in next.iter_mut().zip(added[1]) {
            *next = select(period_one, *second, *next);
        }
        Forecast { settled: period_one | now.equals(before[0]), added: [next, *added[1]] }
    }

    #[inline(always)]
    fn feedbacks<const M: usize>(group: &[Self; M]) -> [Feedback<L, B, J>; M] {
        let mut feedbacks = [group[0].feedback(); M];
        for m in 1..M {
            feedbacks[m] = group[m].feedback();
        }
        feedbacks
    }

    #[inline(always)]
    fn solve_joint<W: Wiring<J>>(
        &mut self,
        joint: usize,
        masses: &[MassLanes<L>; B],
        some_at_limit: bool,
    ) -> Vec2<L> {
        let (a, b) = W::LINKS[joint];
        let (mut velocity_a, mut velocity_b) = (self.velocities[a], self.velocities[b]);
        let added = self.joints[joint].solve_velocity(
            &self.prepared[joint],
            some_at_limit,
            (masses[a], masses[b]),
            (&mut velocity_a, &mut velocity_b),
        );
        (self.velocities[a], self.velocities[b]) = (velocity_a, velocity_b);
        added
    }

    #[inline(always)]
    fn feedback(&self) -> Feedback<L, B, J> {
        let zeros = [L::splat(0.0); J];
        let mut feedback = Feedback { velocities: self.velocities, motors: zeros, limits: zeros };
        for (index, joint) in self.joints.iter().enumerate() {
            feedback.motors[index] = joint.motor_impulse;
            feedback.limits[index] = joint.limit_impulse;
        }
        feedback
    }

    /// Does in the settled lanes what `count` further iterations would do, an even number.
    #[inline(always)]
    pub(super) fn replay(&mut self, forecast: &Forecast<L, J>, count: usize) {
        debug_assert!(count.is_multiple_of(2), "{count} iterations end in the middle of a period");
        let [first, second] = &forecast.added;
        let mut impulses = self.joints.each_ref().map(|joint| joint.impulse);
        for _ in 0..count / 2 {
            let mut changed = L::Mask::splat(false);
            for (joint, impulse) in impulses.iter_mut().enumerate() {
                let sum = *impulse + first[joint] + second[joint];
                changed = changed | sum.x.differs(impulse.x) | sum.y.differs(impulse.y);
                *impulse = sum;
            }
            // What one pair of additions leaves as it is, all further pairs do.
            if !(changed & forecast.settled).any() {
                break;
            }
        }
        for (joint, impulse) in self.joints.iter_mut().zip(impulses) {
            joint.impulse = select(forecast.settled, impulse, joint.impulse);
        }
    }

    /// Whether lane `index` is at a limit, which makes each iteration longer.
    #[inline(always)]
    pub(super) fn is_at_limit(&self, index: usize) -> bool {
        self.joints.iter().any(|joint| joint.at_lower.get(index) || joint.at_upper.get(index))
    }

    /// Copies what iterations change from lane `from_index` of `from` into lane `index`.
    #[inline(always)]
    pub(super) fn take_result(&mut self, index: usize, from: &Self, from_index: usize) {
        self.velocities.set(index, from.velocities.get(from_index));
        for (joint, from) in self.joints.iter_mut().zip(&from.joints) {
            joint.impulse.set(index, from.impulse.get(from_index));
            joint.motor_impulse.set(index, from.motor_impulse.get(from_index));
            joint.limit_impulse.set(index, from.limit_impulse.get(from_index));
        }
    }
}

impl<L: Lanes, const B: usize, const J: usize> Feedback<L, B, J> {
    /// The lanes in which every bit is the same.
    #[inline(always)]
    fn equals(&self, other: &Self) -> L::Mask {
        let mut differs = L::Mask::splat(false);
        for (ours, theirs) in self.velocities.iter().zip(&other.velocities) {
            differs = differs
                | ours.linear.x.differs(theirs.linear.x)
                | ours.linear.y.differs(theirs.linear.y)
                | ours.angular.differs(theirs.angular);
        }
        for (ours, theirs) in self.motors.iter().zip(&other.motors) {
            differs = differs | ours.differs(*theirs);
        }
        for (ours, theirs) in self.limits.iter().zip(&other.limits) {
            differs = differs | ours.differs(*theirs);
        }
        !differs
    }
}
