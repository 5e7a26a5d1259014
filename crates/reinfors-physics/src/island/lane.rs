//! Between single islands and islands in lanes: one lane taken out, all lanes put in.

use reinfors_math::lanes::{Lanes, Mask};
use reinfors_math::{Rotation, Transform, Vec2};

use super::Island;
use crate::body::{Body, Placement, Velocity};
use crate::joint::revolute::Revolute;

impl<L: Lanes, const B: usize, const J: usize> Island<L, B, J> {
    /// The island in lane `index` alone.
    pub fn lane(&self, index: usize) -> Island<f32, B, J> {
        let number = |value: L| value.get(index);
        let vector = |value: Vec2<L>| Vec2::new(number(value.x), number(value.y));
        Island {
            bodies: self.bodies.map(|body| body.map(number)),
            joints: self.joints.map(|joint| Revolute {
                motor_speed: number(joint.motor_speed),
                impulse: vector(joint.impulse),
                motor_impulse: number(joint.motor_impulse),
                limit_impulse: number(joint.limit_impulse),
                at_lower: joint.at_lower.get(index),
                at_upper: joint.at_upper.get(index),
            }),
            asleep: self.asleep.get(index),
        }
    }

    /// The island whose lanes are `lanes`, as many as `L` has.
    ///
    /// # Panics
    /// If there are fewer islands than lanes.
    pub fn from_lanes(lanes: &[Island<f32, B, J>]) -> Self {
        let number = |of: &dyn Fn(&Island<f32, B, J>) -> f32| {
            let mut value = L::splat(0.0);
            for (index, lane) in lanes.iter().enumerate().take(L::COUNT) {
                value.set(index, of(lane));
            }
            value
        };
        let vector = |of: &dyn Fn(&Island<f32, B, J>) -> Vec2| {
            Vec2::new(number(&|lane| of(lane).x), number(&|lane| of(lane).y))
        };
        Self {
            bodies: std::array::from_fn(|i| Body {
                placement: Placement {
                    center: vector(&|lane| lane.bodies[i].placement.center),
                    angle: number(&|lane| lane.bodies[i].placement.angle),
                },
                velocity: Velocity {
                    linear: vector(&|lane| lane.bodies[i].velocity.linear),
                    angular: number(&|lane| lane.bodies[i].velocity.angular),
                },
                transform: Transform {
                    position: vector(&|lane| lane.bodies[i].transform.position),
                    rotation: Rotation {
                        sin: number(&|lane| lane.bodies[i].transform.rotation.sin),
                        cos: number(&|lane| lane.bodies[i].transform.rotation.cos),
                    },
                },
                force: vector(&|lane| lane.bodies[i].force),
                torque: number(&|lane| lane.bodies[i].torque),
                still_time: number(&|lane| lane.bodies[i].still_time),
            }),
            joints: std::array::from_fn(|j| Revolute {
                motor_speed: number(&|lane| lane.joints[j].motor_speed),
                impulse: vector(&|lane| lane.joints[j].impulse),
                motor_impulse: number(&|lane| lane.joints[j].motor_impulse),
                limit_impulse: number(&|lane| lane.joints[j].limit_impulse),
                at_lower: L::Mask::from_fn(|index| lanes[index].joints[j].at_lower),
                at_upper: L::Mask::from_fn(|index| lanes[index].joints[j].at_upper),
            }),
            asleep: L::Mask::from_fn(|index| lanes[index].asleep),
        }
    }
}
