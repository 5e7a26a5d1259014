//! What CartPole looks like: track, cart, pole and axle, in the reference's order. Drawing only.
//!
//! The world is drawn with y up and then flipped. Source: Gymnasium `cartpole.py` (`render`).

use super::motion::{HALF_LENGTH, Motion, X_THRESHOLD};
use reinfors_math::trig;
use reinfors_render::{Colour, Point, Scene, Size};
use std::f64::consts::{FRAC_PI_2, TAU};

/// The surface everything is drawn on, and the size of pictures (`screen_width`, `screen_height`).
pub const SURFACE: Size = Size::new(600, 400);

/// The size of observed pixels: the surface's shape.
pub const OBSERVATION: Size = Size::new(96, 64);

/// Pixels to a metre.
const SCALE: f64 = SURFACE.width as f64 / (X_THRESHOLD * 2.0);
/// Height of the track above the picture's foot, in pixels (`carty`).
const TRACK: i32 = 100;
/// The cart's corners around its middle (`cartwidth`, `cartheight`).
const CART: [[f64; 2]; 4] = [[-25.0, -15.0], [-25.0, 15.0], [25.0, 15.0], [25.0, -15.0]];
/// The axle's height above the track (`axleoffset`) and its radius.
const AXLE: f64 = 7.5;
const AXLE_RADIUS: i32 = 5;
/// The pole's corners around the axle (`polewidth`, `polelen`).
const POLE: [[f64; 2]; 4] = [[-5.0, -5.0], [-5.0, POLE_END], [5.0, POLE_END], [5.0, -5.0]];
const POLE_END: f64 = SCALE * (2.0 * HALF_LENGTH) - 5.0;

const POLE_COLOUR: Colour = Colour::rgb([202, 152, 101]);
const AXLE_COLOUR: Colour = Colour::rgb([129, 132, 203]);

/// Fills `scene` with what both observations and pictures show, as large as its surface is.
pub fn draw(scene: &mut Scene, motion: &Motion) {
    let times = (scene.size().width / SURFACE.width) as i32;
    let place = |x: f64, y: f64| Point::truncated([x, y].map(|along| along * f64::from(times)));
    scene.clear();
    scene.background(Colour::grey(255));
    let cart = motion.position * SCALE + SURFACE.width as f64 / 2.0;
    let track = f64::from(TRACK);
    scene.aa_polygon(&CART.map(|[x, y]| place(x + cart, y + track)), Colour::BLACK);
    let turn = Turn::new(-motion.angle);
    let pole = POLE.map(|corner| {
        let [x, y] = turn.apply(corner);
        place(x + cart, y + track + AXLE)
    });
    scene.aa_polygon(&pole, POLE_COLOUR);
    scene.aa_circle(place(cart, track + AXLE), AXLE_RADIUS * times, AXLE_COLOUR);
    let (left, right) = (Point::new(0, TRACK * times), Point::new(scene.size().width as i32, TRACK * times));
    scene.rectangle(left, Point::new(right.x, right.y + times - 1), Colour::BLACK);
    scene.flip();
}

/// A rotation as pygame's `Vector2.rotate_rad` makes it: quarter turns are exact, and so is what is near to
/// one.
struct Turn {
    sin: f64,
    cos: f64,
}

impl Turn {
    fn new(angle: f64) -> Self {
        const EPSILON: f64 = 1e-6;
        let rest = angle % TAU;
        let angle = if rest < 0.0 { rest + TAU } else { rest };
        if (angle + EPSILON) % FRAC_PI_2 < 2.0 * EPSILON {
            let (sin, cos) = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)]
                [((angle + EPSILON) / FRAC_PI_2) as usize % 4];
            return Self { sin, cos };
        }
        let (sin, cos) = trig::sin_cos_f64(angle);
        Self { sin, cos }
    }

    fn apply(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.cos * x - self.sin * y, self.sin * x + self.cos * y]
    }
}
