//! What the view needs to draw a race: positions, speeds and the score.

use super::super::view::Pose;
use super::Race;

impl Race {
    /// What the last observation shows. Its score lacks the charge for the step's own time, which the
    /// reference makes after it draws.
    pub fn pose(&self) -> Pose {
        Pose { score: self.observed_score(), ..self.pose_now() }
    }

    /// What a picture drawn now shows.
    pub fn pose_now(&self) -> Pose {
        let (car, hull) = (self.car(), self.car().hull());
        Pose {
            time: self.time(),
            score: self.score(),
            hull: hull.transform,
            angle: hull.placement.angle,
            velocity: hull.velocity.linear,
            angular_velocity: hull.velocity.angular,
            wheels: std::array::from_fn(|index| car.wheel_body(index).transform),
            wheel_speeds: car.wheels().each_ref().map(|wheel| wheel.omega),
            wheel_phases: car.wheels().each_ref().map(|wheel| wheel.phase),
            steering: car.joint_angle(0),
        }
    }
}
