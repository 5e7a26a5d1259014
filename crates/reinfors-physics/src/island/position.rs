//! The position phase of an island: integration with Box2D's speed limits, correction of the joints, sleep.

use reinfors_math::lanes::{Lanes, Mask, PerLane};
use reinfors_math::{Rotation, Vec2};

use super::{Island, IslandDef, TimeStep, Wiring};
use crate::body::{Body, MassLanes, select};

/// Box2D's `b2_maxTranslation`: the farthest a body moves in one step, metres.
const MAX_TRANSLATION: f32 = 2.0;

/// Box2D's `b2_maxRotation`: the farthest it turns in one step, radians.
const MAX_ROTATION: f32 = 0.5 * std::f32::consts::PI;

/// Box2D's `b2_timeToSleep`: how long an island must be nearly still before it sleeps, seconds.
const TIME_TO_SLEEP: f32 = 0.5;

/// Box2D's `b2_linearSleepTolerance`, metres per second.
const LINEAR_SLEEP_TOLERANCE: f32 = 0.01;

/// Box2D's `b2_angularSleepTolerance`, two degrees per second in radians.
const ANGULAR_SLEEP_TOLERANCE: f32 = 2.0 / 180.0 * std::f32::consts::PI;

impl<L: Lanes, const B: usize, const J: usize> Island<L, B, J> {
    /// What follows the velocity phase: positions, transforms, sleep.
    #[inline(always)]
    pub(super) fn settle_positions<W: Wiring<J>>(
        &mut self,
        def: &IslandDef<B, J>,
        masses: &[MassLanes<L>; B],
        step: &TimeStep,
    ) {
        self.integrate_positions(step.dt);
        let solved = self.solve_positions::<W>(def, masses, step.position_iterations);
        for (body, mass) in self.bodies.iter_mut().zip(masses) {
            body.synchronize(mass);
        }
        self.fall_asleep(solved, step.dt);
    }

    #[inline(always)]
    fn integrate_positions(&mut self, dt: f32) {
        let dt = L::splat(dt);
        for body in &mut self.bodies {
            body.limit_speed(dt);
            body.placement.center += body.velocity.linear * dt;
            body.placement.angle = body.placement.angle + dt * body.velocity.angular;
        }
    }

    /// Corrects the joints until all errors of a lane are within the slop, at least once and at most
    /// `iterations` times. Returns the lanes in which they were.
    #[inline(always)]
    fn solve_positions<W: Wiring<J>>(
        &mut self,
        def: &IslandDef<B, J>,
        masses: &[MassLanes<L>; B],
        iterations: usize,
    ) -> L::Mask {
        let mut open = L::Mask::splat(true);
        for _ in 0..iterations {
            let mut within_slop = L::Mask::splat(true);
            for joint in W::ORDER {
                let (a, b) = W::LINKS[joint];
                let (mut placement_a, mut placement_b) = (self.bodies[a].placement, self.bodies[b].placement);
                within_slop = within_slop
                    & self.joints[joint].solve_position(
                        &def.joints[joint],
                        (masses[a], masses[b]),
                        (&mut placement_a, &mut placement_b),
                        open,
                    );
                (self.bodies[a].placement, self.bodies[b].placement) = (placement_a, placement_b);
            }
            open = open & !within_slop;
            if !open.any() {
                break;
            }
        }
        !open
    }

    /// Counts how long the bodies have been still, and stops them where that is long enough and the joints
    /// are `solved`.
    #[inline(always)]
    fn fall_asleep(&mut self, solved: L::Mask, dt: f32) {
        let mut least = L::splat(f32::MAX);
        for body in &mut self.bodies {
            least = body.count_still_time(least, L::splat(dt));
        }
        self.asleep = least.ge(L::splat(TIME_TO_SLEEP)) & solved;
        if !self.asleep.any() {
            return;
        }
        let zero = L::splat(0.0);
        for body in &mut self.bodies {
            body.velocity.linear = select(self.asleep, Vec2::new(zero, zero), body.velocity.linear);
            body.velocity.angular = L::select(self.asleep, zero, body.velocity.angular);
            body.still_time = L::select(self.asleep, zero, body.still_time);
        }
    }
}

impl<L: Lanes> Body<L> {
    /// Slows the body down to [`MAX_TRANSLATION`] and [`MAX_ROTATION`] per step.
    #[inline(always)]
    fn limit_speed(&mut self, dt: L) {
        let velocity = &mut self.velocity;
        let square = (velocity.linear * dt).length_squared();
        let fast = square.gt(L::splat(MAX_TRANSLATION * MAX_TRANSLATION));
        if fast.any() {
            let ratio = L::splat(MAX_TRANSLATION) / square.sqrt();
            velocity.linear = select(fast, velocity.linear * ratio, velocity.linear);
        }
        let rotation = dt * velocity.angular;
        let spinning = (rotation * rotation).gt(L::splat(MAX_ROTATION * MAX_ROTATION));
        if spinning.any() {
            let ratio = L::splat(MAX_ROTATION) / rotation.abs();
            velocity.angular = L::select(spinning, velocity.angular * ratio, velocity.angular);
        }
    }

    /// Brings the transform in step with the placement.
    #[inline(always)]
    fn synchronize(&mut self, mass: &MassLanes<L>) {
        self.transform.rotation = Rotation::by(self.placement.angle);
        self.transform.position = self.placement.center - self.transform.rotation.rotate(mass.local_center);
    }

    /// Advances the clock of a still body, or starts it anew. Returns the lesser of `least` and the clock; a
    /// moving body makes it 0.
    #[inline(always)]
    fn count_still_time(&mut self, least: L, dt: L) -> L {
        let zero = L::splat(0.0);
        let spin = self.velocity.angular;
        let moving = (spin * spin).gt(L::splat(ANGULAR_SLEEP_TOLERANCE * ANGULAR_SLEEP_TOLERANCE))
            | self
                .velocity
                .linear
                .length_squared()
                .gt(L::splat(LINEAR_SLEEP_TOLERANCE * LINEAR_SLEEP_TOLERANCE));
        self.still_time = L::select(moving, zero, self.still_time + dt);
        L::select(moving, zero, least.min(self.still_time))
    }
}
