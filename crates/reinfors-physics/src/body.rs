//! A rigid body: its mass data, which never changes, and its state, which is one number per lane.

use reinfors_math::lanes::Lanes;
use reinfors_math::{Rotation, Transform, Vec2, per_lane};
use serde::{Deserialize, Serialize};

use crate::shape::Polygon;

/// What resists a body's acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassData {
    /// One over the mass.
    pub inverse_mass: f32,
    /// One over the rotational inertia about the centre of mass.
    pub inverse_inertia: f32,
    /// Centre of mass in the body's coordinates.
    pub local_center: Vec2,
}

impl MassData {
    /// The mass data of a body made of `(polygon, density)` fixtures in the order of their creation. The sums
    /// run from the newest to the oldest, as `b2Body::ResetMassData` walks its list.
    pub fn of_fixtures(fixtures: &[(&Polygon, f32)]) -> Self {
        let (mut mass, mut inertia, mut center) = (0.0_f32, 0.0_f32, Vec2::ZERO);
        for (polygon, density) in fixtures.iter().rev() {
            let part = polygon.mass_properties(*density);
            mass += part.mass;
            center += part.center * part.mass;
            inertia += part.inertia;
        }
        let inverse_mass = 1.0 / mass;
        let center = center * inverse_mass;
        let about_center = inertia - mass * center.dot(center);
        Self { inverse_mass, inverse_inertia: 1.0 / about_center, local_center: center }
    }
}

/// Centre of mass and angle, what the solver moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement<L = f32> {
    /// Centre of mass in the world, metres.
    pub center: Vec2<L>,
    /// Orientation in radians, not wrapped.
    pub angle: L,
}

per_lane!(Placement<L> { center, angle });

/// Rate of change of a [`Placement`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Velocity<L = f32> {
    /// Of the centre of mass, metres per second.
    pub linear: Vec2<L>,
    /// Radians per second.
    pub angular: L,
}

per_lane!(Velocity<L> { linear, angular });

/// The state of one body, in one world per lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body<L = f32> {
    /// Centre of mass and angle.
    pub placement: Placement<L>,
    /// Velocity of the centre of mass.
    pub velocity: Velocity<L>,
    /// Origin and rotation in the world, in step with `placement` between steps.
    pub transform: Transform<L>,
    /// Force on the centre of mass during the next step, newtons.
    pub force: Vec2<L>,
    /// Torque during the next step, newton metres.
    pub torque: L,
    /// For how long the body has been nearly still, seconds.
    pub still_time: L,
}

per_lane!(Body<L> { placement, velocity, transform, force, torque, still_time });

impl Body {
    /// A body at rest with its origin at `position` and turned by `angle` radians.
    pub fn at_rest(position: Vec2, angle: f32, mass: &MassData) -> Self {
        let transform = Transform { position, rotation: Rotation::by(angle) };
        Self {
            placement: Placement { center: transform.apply(mass.local_center), angle },
            velocity: Velocity { linear: Vec2::ZERO, angular: 0.0 },
            transform,
            force: Vec2::ZERO,
            torque: 0.0,
            still_time: 0.0,
        }
    }
}

/// The mass data of a body in every lane.
#[derive(Clone, Copy)]
pub(crate) struct MassLanes<L> {
    pub inverse_mass: L,
    pub inverse_inertia: L,
    pub local_center: Vec2<L>,
}

impl<L: Lanes> MassLanes<L> {
    #[inline(always)]
    pub fn splat(mass: &MassData) -> Self {
        Self {
            inverse_mass: L::splat(mass.inverse_mass),
            inverse_inertia: L::splat(mass.inverse_inertia),
            local_center: splat(mass.local_center),
        }
    }
}

/// The same vector in every lane.
#[inline(always)]
pub(crate) fn splat<L: Lanes>(vector: Vec2) -> Vec2<L> {
    Vec2::new(L::splat(vector.x), L::splat(vector.y))
}

/// `yes` where the mask is true, `no` elsewhere.
#[inline(always)]
pub(crate) fn select<L: Lanes>(mask: L::Mask, yes: Vec2<L>, no: Vec2<L>) -> Vec2<L> {
    Vec2::new(L::select(mask, yes.x, no.x), L::select(mask, yes.y, no.y))
}
