//! The revolute joint with motor and limits: Box2D's `b2RevoluteJoint`.
//!
//! Two points, one on each body, are held together; the angle between the bodies is driven by a motor of
//! bounded torque and kept within limits. The notation is Box2D's: `K` is the effective mass, `C` the
//! position error, `Cdot` the velocity error. Motor and limits are always on: a motor without torque and
//! limits out of reach are no motor and no limits.

use reinfors_math::lanes::{Lanes, Mask};
use reinfors_math::{Rotation, Vec2, per_lane};
use serde::{Deserialize, Serialize};

use crate::body::{MassLanes, Placement, Velocity, select, splat};
use crate::{ANGULAR_SLOP, LINEAR_SLOP};

/// Box2D's `b2_maxAngularCorrection`, eight degrees in radians.
const MAX_ANGULAR_CORRECTION: f32 = 8.0 / 180.0 * std::f32::consts::PI;

/// What a joint is: it never changes. Body B turns about a point of body A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RevoluteDef {
    /// The point held together, in the coordinates of body A.
    pub anchor_a: Vec2,
    /// The point held together, in the coordinates of body B.
    pub anchor_b: Vec2,
    /// Angle of B less angle of A at which the joint's angle is zero, radians.
    pub reference_angle: f32,
    /// Least angle of the joint in radians; below `upper_angle` by more than twice [`ANGULAR_SLOP`].
    pub lower_angle: f32,
    /// Greatest angle of the joint in radians.
    pub upper_angle: f32,
    /// Greatest torque of the motor, newton metres.
    pub max_motor_torque: f32,
}

/// The state of a joint: the motor's speed, and the impulses that the next step starts from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revolute<L: Lanes = f32> {
    /// Speed of the joint's angle that the motor aims at, radians per second.
    pub motor_speed: L,
    /// Accumulated impulse that holds the points together.
    pub impulse: Vec2<L>,
    /// Accumulated angular impulse of the motor.
    pub motor_impulse: L,
    /// Accumulated angular impulse of the limit.
    pub limit_impulse: L,
    /// Whether the last step began at the lower limit.
    pub at_lower: L::Mask,
    /// Whether the last step began at the upper limit.
    pub at_upper: L::Mask,
}

per_lane!(Revolute<L> { motor_speed, impulse, motor_impulse, limit_impulse, at_lower, at_upper });

impl Revolute {
    /// A joint with its motor at rest and no impulse.
    pub const IDLE: Self = Self {
        motor_speed: 0.0,
        impulse: Vec2::ZERO,
        motor_impulse: 0.0,
        limit_impulse: 0.0,
        at_lower: false,
        at_upper: false,
    };
}

/// A column, or a row, of the symmetric 3 by 3 effective mass.
#[derive(Clone, Copy)]
struct Column<L> {
    x: L,
    y: L,
    z: L,
}

per_lane!(Column<L> { x, y, z });

impl<L: Lanes> Column<L> {
    #[inline(always)]
    fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }
}

/// What the velocity iterations of one step read: arms, effective masses, and their inverted determinants.
#[derive(Clone, Copy)]
pub(crate) struct Prepared<L> {
    arm_a: Vec2<L>,
    arm_b: Vec2<L>,
    k_x: Column<L>,
    k_y: Column<L>,
    k_z: Column<L>,
    k_y_cross_z: Column<L>,
    inverse_det2: L,
    inverse_det3: L,
    motor_mass: L,
    max_motor_impulse: L,
}

per_lane!(Prepared<L> {
    arm_a, arm_b, k_x, k_y, k_z, k_y_cross_z, inverse_det2, inverse_det3, motor_mass, max_motor_impulse
});

/// The two bodies of a joint in the velocity phase.
pub(crate) type Pair<'a, L> = (&'a mut Velocity<L>, &'a mut Velocity<L>);

/// The mass data of the two bodies of a joint.
pub(crate) type Masses<L> = (MassLanes<L>, MassLanes<L>);

impl<L: Lanes> Revolute<L> {
    /// Fixes arms, effective mass and limit state for a step of `dt` seconds (`InitVelocityConstraints`). A
    /// limit impulse survives only while the same limit stays active.
    #[inline(always)]
    pub(crate) fn prepare(
        &mut self,
        def: &RevoluteDef,
        (mass_a, mass_b): Masses<L>,
        (rotation_a, rotation_b): (Rotation<L>, Rotation<L>),
        angle_between: L,
        dt: f32,
    ) -> Prepared<L> {
        let (m_a, i_a) = (mass_a.inverse_mass, mass_a.inverse_inertia);
        let (m_b, i_b) = (mass_b.inverse_mass, mass_b.inverse_inertia);
        let a = rotation_a.rotate(splat::<L>(def.anchor_a) - mass_a.local_center);
        let b = rotation_b.rotate(splat::<L>(def.anchor_b) - mass_b.local_center);

        let xx = m_a + m_b + a.y * a.y * i_a + b.y * b.y * i_b;
        let xy = -a.y * a.x * i_a - b.y * b.x * i_b;
        let xz = -a.y * i_a - b.y * i_b;
        let yy = m_a + m_b + a.x * a.x * i_a + b.x * b.x * i_b;
        let yz = a.x * i_a + b.x * i_b;
        let zz = i_a + i_b;
        let k_x = Column { x: xx, y: xy, z: xz };
        let k_y = Column { x: xy, y: yy, z: yz };
        let k_z = Column { x: xz, y: yz, z: zz };
        let k_y_cross_z = k_y.cross(k_z);

        let angle = angle_between - L::splat(def.reference_angle);
        let at_lower = angle.le(L::splat(def.lower_angle));
        let at_upper = angle.ge(L::splat(def.upper_angle)) & !at_lower;
        let same_limit = (at_lower & self.at_lower) | (at_upper & self.at_upper);
        self.limit_impulse = L::select(same_limit, self.limit_impulse, L::splat(0.0));
        (self.at_lower, self.at_upper) = (at_lower, at_upper);

        Prepared {
            arm_a: a,
            arm_b: b,
            k_x,
            k_y,
            k_z,
            k_y_cross_z,
            inverse_det2: inverse(xx * yy - xy * xy),
            inverse_det3: inverse(k_x.dot(k_y_cross_z)),
            motor_mass: inverse(zz),
            max_motor_impulse: L::splat(dt * def.max_motor_torque),
        }
    }

    /// Applies the impulses left by the previous step.
    #[inline(always)]
    pub(crate) fn warm_start(&self, p: &Prepared<L>, (mass_a, mass_b): Masses<L>, (a, b): Pair<'_, L>) {
        a.linear -= self.impulse * mass_a.inverse_mass;
        a.angular = a.angular
            - mass_a.inverse_inertia
                * (p.arm_a.cross(self.impulse) + self.motor_impulse + self.limit_impulse);
        b.linear += self.impulse * mass_b.inverse_mass;
        b.angular = b.angular
            + mass_b.inverse_inertia
                * (p.arm_b.cross(self.impulse) + self.motor_impulse + self.limit_impulse);
    }

    /// Lanes at a limit.
    #[inline(always)]
    pub(crate) fn at_limit(&self) -> L::Mask {
        self.at_lower | self.at_upper
    }

    /// One velocity iteration (`SolveVelocityConstraints`). Returns what it added to [`Revolute::impulse`].
    /// `some_at_limit` says whether some lane is, which stays the same over all iterations of a step.
    #[inline(always)]
    pub(crate) fn solve_velocity(
        &mut self,
        p: &Prepared<L>,
        some_at_limit: bool,
        (mass_a, mass_b): Masses<L>,
        (a, b): Pair<'_, L>,
    ) -> Vec2<L> {
        let (i_a, i_b) = (mass_a.inverse_inertia, mass_b.inverse_inertia);
        self.drive_motor(p, i_a, i_b, (a, b));

        let error = b.linear + p.arm_b.swept_by(b.angular) - a.linear - p.arm_a.swept_by(a.angular);
        let free = p.solve2(-error);
        let mut impulse = free;
        let mut twist_a = p.arm_a.cross(free);
        let mut twist_b = p.arm_b.cross(free);
        if some_at_limit {
            let at_limit = self.at_limit();
            let (held, added) = self.solve_limit(p, error, b.angular - a.angular);
            impulse = select(at_limit, held, free);
            // Box2D adds the limit's share before it multiplies by the inertia, and only at a limit.
            twist_a = L::select(at_limit, p.arm_a.cross(held) + added, twist_a);
            twist_b = L::select(at_limit, p.arm_b.cross(held) + added, twist_b);
        }
        self.impulse += impulse;
        a.linear -= impulse * mass_a.inverse_mass;
        a.angular = a.angular - i_a * twist_a;
        b.linear += impulse * mass_b.inverse_mass;
        b.angular = b.angular + i_b * twist_b;
        impulse
    }

    #[inline(always)]
    fn drive_motor(&mut self, p: &Prepared<L>, i_a: L, i_b: L, (a, b): Pair<'_, L>) {
        let error = b.angular - a.angular - self.motor_speed;
        let wanted = self.motor_impulse + -p.motor_mass * error;
        let clamped = wanted.clamp(-p.max_motor_impulse, p.max_motor_impulse);
        let added = clamped - self.motor_impulse;
        self.motor_impulse = clamped;
        a.angular = a.angular - i_a * added;
        b.angular = b.angular + i_b * added;
    }

    /// The impulse of point and limit together, for lanes at a limit: where the limit would pull, it is
    /// released and the point is solved without it.
    #[inline(always)]
    fn solve_limit(&mut self, p: &Prepared<L>, error: Vec2<L>, spin_error: L) -> (Vec2<L>, L) {
        let zero = L::splat(0.0);
        let (held, added) = p.solve3(error, spin_error);
        let total = self.limit_impulse + added;
        let released = (self.at_lower & total.lt(zero)) | (self.at_upper & total.gt(zero));
        let remaining = -error + Vec2::new(p.k_z.x, p.k_z.y) * self.limit_impulse;
        let impulse = select(released, p.solve2(remaining), held);
        let added = L::select(released, -self.limit_impulse, added);
        let at_limit = self.at_limit();
        let kept = L::select(released, zero, total);
        self.limit_impulse = L::select(at_limit, kept, self.limit_impulse);
        (impulse, added)
    }

    /// One position iteration (`SolvePositionConstraints`) in the lanes `open`. Returns the lanes whose error
    /// was within the slop before the correction.
    #[inline(always)]
    pub(crate) fn solve_position(
        &self,
        def: &RevoluteDef,
        (mass_a, mass_b): Masses<L>,
        (a, b): (&mut Placement<L>, &mut Placement<L>),
        open: L::Mask,
    ) -> L::Mask {
        let (m_a, i_a) = (mass_a.inverse_mass, mass_a.inverse_inertia);
        let (m_b, i_b) = (mass_b.inverse_mass, mass_b.inverse_inertia);
        let (angle_a, angle_b, angular_error) = self.push_from_limit(def, i_a, i_b, (a.angle, b.angle));

        let arm_a = arm(angle_a, def.anchor_a, mass_a);
        let arm_b = arm(angle_b, def.anchor_b, mass_b);
        let error = b.center + arm_b - a.center - arm_a;
        let within_slop = error.length_squared().sqrt().le(L::splat(LINEAR_SLOP))
            & angular_error.le(L::splat(ANGULAR_SLOP));

        let xx = m_a + m_b + i_a * arm_a.y * arm_a.y + i_b * arm_b.y * arm_b.y;
        let xy = -i_a * arm_a.x * arm_a.y - i_b * arm_b.x * arm_b.y;
        let yy = m_a + m_b + i_a * arm_a.x * arm_a.x + i_b * arm_b.x * arm_b.x;
        let impulse = -solve2(xx, xy, yy, inverse(xx * yy - xy * xy), error);

        a.center = select(open, a.center - impulse * m_a, a.center);
        a.angle = L::select(open, angle_a - i_a * arm_a.cross(impulse), a.angle);
        b.center = select(open, b.center + impulse * m_b, b.center);
        b.angle = L::select(open, angle_b + i_b * arm_b.cross(impulse), b.angle);
        within_slop
    }

    /// Turns both bodies back towards the allowed range, in lanes at a limit. Returns the angles and the
    /// error before.
    #[inline(always)]
    fn push_from_limit(&self, def: &RevoluteDef, i_a: L, i_b: L, (a, b): (L, L)) -> (L, L, L) {
        let zero = L::splat(0.0);
        let at_limit = self.at_limit();
        if !at_limit.any() {
            return (a, b, zero);
        }
        let (slop, most) = (L::splat(ANGULAR_SLOP), L::splat(MAX_ANGULAR_CORRECTION));
        let motor_mass = inverse(i_a + i_b);
        let angle = b - a - L::splat(def.reference_angle);
        let below = angle - L::splat(def.lower_angle);
        let above = angle - L::splat(def.upper_angle);
        let raise = -motor_mass * (below + slop).clamp(-most, zero);
        let lower = -motor_mass * (above - slop).clamp(zero, most);
        let impulse = L::select(self.at_lower, raise, lower);
        let error = L::select(self.at_lower, -below, L::select(self.at_upper, above, zero));
        let turned_a = L::select(at_limit, a - i_a * impulse, a);
        let turned_b = L::select(at_limit, b + i_b * impulse, b);
        (turned_a, turned_b, error)
    }
}

impl<L: Lanes> Prepared<L> {
    /// The impulse that answers `error` at the point (`b2Mat33::Solve22`).
    #[inline(always)]
    fn solve2(&self, error: Vec2<L>) -> Vec2<L> {
        solve2(self.k_x.x, self.k_x.y, self.k_y.y, self.inverse_det2, error)
    }

    /// The impulses that cancel `error` at the point and `spin_error` at the limit (`-b2Mat33::Solve33`).
    #[inline(always)]
    fn solve3(&self, error: Vec2<L>, spin_error: L) -> (Vec2<L>, L) {
        let error = Column { x: error.x, y: error.y, z: spin_error };
        let x = -(self.inverse_det3 * error.dot(self.k_y_cross_z));
        let y = -(self.inverse_det3 * self.k_x.dot(error.cross(self.k_z)));
        let z = -(self.inverse_det3 * self.k_x.dot(self.k_y.cross(error)));
        (Vec2::new(x, y), z)
    }
}

/// From the centre of mass to the anchor. An anchor at the centre has no arm, whatever the angle.
#[inline(always)]
fn arm<L: Lanes>(angle: L, anchor: Vec2, mass: MassLanes<L>) -> Vec2<L> {
    let local = splat::<L>(anchor) - mass.local_center;
    let zero = L::splat(0.0);
    let off_center = local.x.lt(zero) | local.x.gt(zero) | local.y.lt(zero) | local.y.gt(zero);
    if off_center.any() { Rotation::by(angle).rotate(local) } else { Vec2::new(zero, zero) }
}

#[inline(always)]
fn solve2<L: Lanes>(xx: L, xy: L, yy: L, inverse_det: L, error: Vec2<L>) -> Vec2<L> {
    Vec2::new(inverse_det * (yy * error.x - xy * error.y), inverse_det * (xx * error.y - xy * error.x))
}

/// One over `value`, which stays zero where it is zero.
#[inline(always)]
fn inverse<L: Lanes>(value: L) -> L {
    let zero = L::splat(0.0);
    L::select(value.lt(zero) | value.gt(zero), L::splat(1.0) / value, value)
}
