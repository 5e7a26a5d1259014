//! From the world to the surface: pygame's `Vector2.rotate_rad`, zoom, translation, all in f64 and in the
//! reference's order of operations. Fusing or reordering them moves a truncated point now and then.

use crate::Size;
use reinfors_math::trig;
use std::f64::consts::{FRAC_PI_2, PI};

/// A rotation of the plane as `pygame.math.Vector2.rotate_rad` does it: quarter turns are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    /// By this many quarter turns, 0 to 3, counter-clockwise.
    Quarters(u8),
    /// By any other angle.
    Angle { sin: f64, cos: f64 },
}

impl Turn {
    /// pygame's `VECTOR_EPSILON`, in radians: nearer than this to a quarter turn counts as one.
    const EPSILON: f64 = 1e-6;

    /// From an angle in radians, counter-clockwise.
    fn new(angle: f64) -> Self {
        let mut angle = angle % (2.0 * PI);
        if angle < 0.0 {
            angle += 2.0 * PI;
        }
        if (angle + Self::EPSILON) % FRAC_PI_2 < 2.0 * Self::EPSILON {
            return Self::Quarters(((angle + Self::EPSILON) / FRAC_PI_2) as u8 % 4);
        }
        Self::Angle { sin: trig::sin(angle), cos: trig::cos(angle) }
    }

    /// The turned vector.
    #[inline]
    fn apply(self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Quarters(0) => [x, y],
            Self::Quarters(1) => [-y, x],
            Self::Quarters(2) => [-x, -y],
            Self::Quarters(_) => [y, -x],
            Self::Angle { sin, cos } => [cos * x - sin * y, sin * x + cos * y],
        }
    }

    /// The vector turned back, up to rounding.
    fn undo(self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Quarters(turns) => Self::Quarters((4 - turns) % 4).apply([x, y]),
            Self::Angle { sin, cos } => [cos * x + sin * y, cos * y - sin * x],
        }
    }
}

/// A view of the world that turns and zooms about a point.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    rotation: Turn,
    zoom: f64,
    translation: [f64; 2],
}

impl Camera {
    /// Shows world point `target` at surface point `anchor`, `zoom` pixels to a unit, the world turned by
    /// `angle` radians.
    #[must_use]
    pub fn new(target: [f64; 2], angle: f64, zoom: f64, anchor: [f64; 2]) -> Self {
        let rotation = Turn::new(angle);
        let [x, y] = rotation.apply([-target[0] * zoom, -target[1] * zoom]);
        Self { rotation, zoom, translation: [anchor[0] + x, anchor[1] + y] }
    }

    /// Where a world point lies on the surface, in pixels.
    #[inline]
    #[must_use]
    pub fn project(&self, point: [f64; 2]) -> [f64; 2] {
        let [x, y] = self.rotation.apply(point);
        [x * self.zoom + self.translation[0], y * self.zoom + self.translation[1]]
    }

    /// The box of the world, `[min, max]`, outside of which nothing touches the surface; a few pixels wider
    /// than the view so that rounding and soft edges stay inside.
    #[must_use]
    pub fn visible_box(&self, surface: Size) -> [[f64; 2]; 2] {
        const MARGIN_PX: f64 = 4.0;
        let far = [surface.width as f64 + MARGIN_PX, surface.height as f64 + MARGIN_PX];
        let mut bounds = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        for corner in [[-MARGIN_PX, -MARGIN_PX], [far[0], -MARGIN_PX], far, [-MARGIN_PX, far[1]]] {
            let turned = [
                (corner[0] - self.translation[0]) / self.zoom,
                (corner[1] - self.translation[1]) / self.zoom,
            ];
            let world = self.rotation.undo(turned);
            for axis in 0..2 {
                bounds[0][axis] = bounds[0][axis].min(world[axis]);
                bounds[1][axis] = bounds[1][axis].max(world[axis]);
            }
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turns_are_exact_within_the_epsilon() {
        for quarters in -9..9i32 {
            for nudge in [-9e-7, 0.0, 9e-7] {
                let rotation = Turn::new(f64::from(quarters) * FRAC_PI_2 + nudge);
                assert_eq!(rotation, Turn::Quarters(quarters.rem_euclid(4) as u8), "{quarters} {nudge}");
            }
        }
        assert!(matches!(Turn::new(FRAC_PI_2 + 2e-6), Turn::Angle { .. }));
    }

    #[test]
    fn the_visible_box_holds_every_point_seen() {
        for step in 0..64 {
            let camera = Camera::new([40.0, -70.0], f64::from(step) * 0.1, 16.2, [500.0, 200.0]);
            let [min, max] = camera.visible_box(Size::new(1000, 800));
            for x in -40..40 {
                for y in -40..40 {
                    let world = [40.0 + f64::from(x), -70.0 + f64::from(y)];
                    let [px, py] = camera.project(world);
                    if (0.0..1000.0).contains(&px) && (0.0..800.0).contains(&py) {
                        assert!((0..2).all(|k| min[k] <= world[k] && world[k] <= max[k]));
                    }
                }
            }
        }
    }
}
