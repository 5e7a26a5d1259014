//! What SimpleSpread looks like: agents and landmarks as discs on white, in the reference's places and sizes.
//! Drawing only.
//!
//! Edges are smooth where the reference's are not, so that pictures are not its bytes. Source: MPE2
//! `_mpe_utils/simple_env.py` (`draw`).

use super::motion::{AGENT_SIZE, Field, LANDMARK_SIZE};
use reinfors_render::{Colour, Point, Scene, Size};

/// The surface everything is drawn on, and the size of pictures.
pub const SURFACE: Size = Size::new(700, 700);
const SIDE: f64 = SURFACE.width as f64;

/// Share of the picture that the farthest coordinate lies within.
const MARGIN: f64 = 0.9;
/// Pixels to a unit of a radius, where the farthest coordinate is as far as at the reset.
const SCALE: f64 = 350.0;

const AGENT: Colour = Colour::rgb([70, 70, 170]);
const LANDMARK: Colour = Colour::grey(50);

/// Fills `scene`, as large as its surface is; `reach` was the farthest coordinate at the reset.
pub fn draw(scene: &mut Scene, field: &Field, reach: f64) {
    let times = (scene.size().width / SURFACE.width) as f64;
    let now = field.reach();
    let along = |share: f64| ((share * SIDE / 2.0).floor() * MARGIN + SIDE / 2.0) * times;
    scene.clear();
    scene.background(Colour::grey(255));
    let agents = field.agents.iter().map(|agent| (agent.position, AGENT_SIZE, AGENT));
    let landmarks = field.landmarks.iter().map(|landmark| (*landmark, LANDMARK_SIZE, LANDMARK));
    for ([x, y], size, colour) in agents.chain(landmarks) {
        let centre = Point::truncated([along(x / now), along(-y / now)]);
        let radius = (size * SCALE * (MARGIN * reach / now) * times) as i32;
        scene.aa_circle(centre, radius, Colour::BLACK);
        scene.aa_circle(centre, radius - times as i32, colour);
    }
}
