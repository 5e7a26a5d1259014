//! What CarRacing looks like: field, grass, road, skid marks, car, indicators and score, in the reference's
//! order.
//!
//! Drawing only. [`View`] puts a scene together from the road, its colours and a [`Pose`]; the render crate
//! draws it. The world is drawn with y up and then flipped; everything after the flip lies on the panel.
//! Source: Gymnasium `car_racing.py` (`_render`, `_render_road`, `_render_indicators`) and `car_dynamics.py`
//! (`draw`).

use reinfors_core::PictureSize;
use reinfors_math::{Transform, Vec2, trig};
use reinfors_render::{Camera, Colour, Point, Scene, Size, Strike};
use std::io::Write;

use super::colours::{Colours, drawn};
use super::track::{Bounds, PLAYFIELD, Quad, STRETCH};

/// The surface everything is drawn on (`WINDOW_W`, `WINDOW_H`).
pub const SURFACE: Size = Size::new(1000, 800);

/// The observation's size (`STATE_W`, `STATE_H`).
pub const OBSERVATION: Size = Size::new(96, 96);

/// The size of `rgb_array` pictures (`VIDEO_W`, `VIDEO_H`).
pub const PICTURE: PictureSize = PictureSize { width: 600, height: 400 };

/// Where the car stands on the surface before the flip, in pixels.
const ANCHOR: [f64; 2] = [SURFACE.width as f64 / 2.0, SURFACE.height as f64 / 4.0];

const SCALE: f64 = 6.0;
const ZOOM: f64 = 2.7;

/// Grass squares lie on every second place of a grid this wide, `GRASS_PLACES` to each side of the middle.
const GRASS_DIM: f64 = PLAYFIELD / 20.0;
const GRASS_PLACES: i32 = 10;

const SIZE: f64 = 0.02;
const WHEEL_R: f64 = 27.0;
const WHEEL_W: f64 = 14.0;

/// The turn of a wheel that its bright patch covers, in radians.
const WHEEL_PATCH: f64 = 1.2;
const WHEEL_COLOR: Colour = Colour::BLACK;
const WHEEL_WHITE: Colour = Colour::rgb([77, 77, 77]);

/// `int(0.8 * 255)`.
const HULL_COLOR: Colour = Colour::rgb([204, 0, 0]);

/// `HULL_POLY1` to `HULL_POLY4`, each in the order Box2D's hull puts its vertices: filling depends on it.
const HULL: [&[[i32; 2]]; 4] = [
    &[[60, 110], [60, 130], [-60, 130], [-60, 110]],
    &[[20, 20], [15, 120], [-15, 120], [-20, 20]],
    &[[50, -40], [50, -10], [25, 20], [-25, 20], [-50, -10], [-50, -40], [-20, -90], [20, -90]],
    &[[50, -120], [50, -90], [-50, -90], [-50, -120]],
];

/// The most vertices of a part of the car.
const MOST_VERTICES: usize = 8;

const WHEEL: &[[i32; 2]] = &[[14, -27], [14, 27], [-14, 27], [-14, -27]];

const SKID_WIDTH_PX: i32 = 2;
const MUD_COLOR: [u8; 3] = [102, 102, 0];
const ROAD_SKID_COLOR: [u8; 3] = [0, 0, 0];

/// An indicator shows values above this, in the value's own unit.
const LEAST_SHOWN: f64 = 1e-4;

/// One place of the panel in pixels (`s` and `h` of `_render_indicators`), and the panel's upper edge.
const PLACE_W: f64 = 25.0;
const PLACE_H: f64 = 20.0;
const PANEL_TOP: f64 = 700.0;

/// Where the score is centred.
const SCORE_CENTRE: [i32; 2] = [60, 750];

/// The road's polygons in drawing order (`road_poly`): each tile, followed by its kerb if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Road<'a> {
    /// Their corners in the world.
    pub quads: &'a [Quad],
    /// The box around each [`STRETCH`] of them.
    pub stretches: &'a [Bounds],
    /// Their colours as drawn, one for each quad.
    pub colours: &'a [[u8; 3]],
}

/// Everything drawn that is not track.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// Seconds since the reset, this step's included; the first second zooms in.
    pub time: f64,
    /// The number in the corner: the reward before this step's own time penalty is taken off.
    pub score: f64,
    /// Place and turn of the hull.
    pub hull: Transform,
    /// The hull's angle in radians, not wrapped.
    pub angle: f32,
    /// The hull's speed in units a second.
    pub velocity: Vec2,
    /// The hull's turning speed in radians a second.
    pub angular_velocity: f32,
    /// Place and turn of the wheels: front left, front right, rear left, rear right.
    pub wheels: [Transform; 4],
    /// Turning speed of each wheel about its axle, in radians a second (`omega`).
    pub wheel_speeds: [f64; 4],
    /// Turn of each wheel about its axle, in radians (`phase`).
    pub wheel_phases: [f64; 4],
    /// Angle of the front left wheel's joint in radians.
    pub steering: f64,
}

/// A mark a skidding wheel left: joined points in the world, and a colour.
#[derive(Clone, Copy, Debug)]
pub struct Skid<'a> {
    /// World coordinates.
    pub points: &'a [[f64; 2]],
    /// The mark's colour.
    pub colour: [u8; 3],
}

impl<'a> Skid<'a> {
    /// A mark left on grass or on the road.
    #[must_use]
    pub fn new(points: &'a [[f64; 2]], on_grass: bool) -> Self {
        Self { points, colour: if on_grass { MUD_COLOR } else { ROAD_SKID_COLOR } }
    }
}

/// Puts scenes together, keeping what is the same in every frame.
#[derive(Clone, Debug)]
pub struct View {
    digits: Strike,
    /// How many times as large as the reference's everything is.
    times: usize,
}

impl Default for View {
    fn default() -> Self {
        Self::new()
    }
}

impl View {
    /// A view; reads the table of digits.
    #[must_use]
    pub fn new() -> Self {
        let table = include_bytes!("text/digits-42.bin");
        Self { digits: Strike::parse(table).expect("the table made by make_score_text.py"), times: 1 }
    }

    /// The same view, so many times as large.
    #[must_use]
    pub fn enlarged(&self, times: usize) -> Self {
        Self { digits: self.digits.enlarged(times), times }
    }

    /// An empty scene of the right size.
    #[must_use]
    pub fn scene(&self) -> Scene {
        Scene::new(Size::new(SURFACE.width * self.times, SURFACE.height * self.times))
    }

    /// Fills `scene` with what an observation shows. Allocates nothing once the scene has held a similar
    /// frame.
    pub fn observe(&self, scene: &mut Scene, road: Road, colours: &Colours, pose: &Pose) {
        self.draw(scene, road, colours, pose, std::iter::empty());
    }

    /// Fills `scene` with what `rgb_array` shows: an observation with the skid marks, oldest first.
    pub fn draw<'a>(
        &self,
        scene: &mut Scene,
        road: Road,
        colours: &Colours,
        pose: &Pose,
        skids: impl IntoIterator<Item = Skid<'a>>,
    ) {
        scene.clear();
        let times = self.times as f64;
        let camera = camera(pose, times);
        draw_ground(scene, &camera, colours);
        draw_road(scene, &camera, road);
        for skid in skids {
            draw_skid(scene, &camera, skid, self.times as i32);
        }
        draw_car(scene, &camera, pose);
        scene.flip();
        draw_indicators(scene, pose, times);
        self.draw_score(scene, pose.score);
    }

    /// `f"{score:04.0f}"`: rounded half to even, at least four characters, zeros after the sign.
    fn draw_score(&self, scene: &mut Scene, score: f64) {
        // The longest finite f64 has 309 digits before its point.
        let mut buffer = [0; 320];
        let mut rest = &mut buffer[..];
        if write!(rest, "{score:04.0}").is_ok() {
            let unused = rest.len();
            let text = &buffer[..buffer.len() - unused];
            let [x, y] = SCORE_CENTRE.map(|along| along * self.times as i32);
            scene.text(&self.digits, std::str::from_utf8(text).unwrap_or_default(), Point::new(x, y));
        }
    }
}

/// The view follows the hull, turned so that the hull points up.
fn camera(pose: &Pose, times: f64) -> Camera {
    let zoom = 0.1 * SCALE * (1.0 - pose.time).max(0.0) + ZOOM * SCALE * pose.time.min(1.0);
    let anchor = ANCHOR.map(|along| along * times);
    Camera::new(widened(pose.hull.position), -f64::from(pose.angle), zoom * times, anchor)
}

fn widened(point: Vec2) -> [f64; 2] {
    [f64::from(point.x), f64::from(point.y)]
}

#[inline]
fn project<const N: usize>(camera: &Camera, points: &[[f64; 2]; N]) -> [Point; N] {
    let mut projected = [Point::default(); N];
    for (to, &from) in projected.iter_mut().zip(points) {
        *to = Point::truncated(camera.project(from));
    }
    projected
}

/// The field and its grass. Where the window lies inside the field, the field is simply everything.
fn draw_ground(scene: &mut Scene, camera: &Camera, colours: &Colours) {
    let [min, max] = camera.visible_box(scene.size());
    let field = Colour::rgb(drawn(colours.background));
    if (0..2).all(|axis| min[axis] > -PLAYFIELD && max[axis] < PLAYFIELD) {
        scene.background(field);
    } else {
        // Of a larger scene only what is near: the rest would not fit the 16 bits of SDL_gfx's coordinates.
        let near = |axis: usize| match scene.size() == SURFACE {
            true => [-PLAYFIELD, PLAYFIELD],
            false => [min[axis], max[axis]].map(|along| along.clamp(-PLAYFIELD, PLAYFIELD)),
        };
        let ([left, right], [low, high]) = (near(0), near(1));
        scene.aa_polygon(&project(camera, &[[right, high], [right, low], [left, low], [left, high]]), field);
    }
    let grass = Colour::rgb(drawn(colours.grass));
    scene.mesh();
    let places = |axis: usize| {
        let place = |world: f64| (world / (2.0 * GRASS_DIM)).floor() as i32;
        place(min[axis]).max(-GRASS_PLACES)..=place(max[axis]).min(GRASS_PLACES - 1)
    };
    for column in places(0) {
        for row in places(1) {
            let (x, y) = (GRASS_DIM * f64::from(2 * column), GRASS_DIM * f64::from(2 * row));
            let (far_x, far_y) = (x + GRASS_DIM, y + GRASS_DIM);
            scene.aa_polygon(&project(camera, &[[far_x, y], [x, y], [x, far_y], [far_x, far_y]]), grass);
        }
    }
}

/// Tiles and kerbs that may be seen. The reference draws a few more, all of them outside the window.
fn draw_road(scene: &mut Scene, camera: &Camera, road: Road) {
    let [min, max] = camera.visible_box(scene.size());
    scene.mesh();
    let meets = |[low, high]: Bounds| (0..2).all(|axis| low[axis] <= max[axis] && high[axis] >= min[axis]);
    let stretches = road.quads.chunks(STRETCH).zip(road.colours.chunks(STRETCH)).zip(road.stretches);
    for (stretch, _) in stretches.filter(|(_, bounds)| meets(**bounds)) {
        for (quad, &colour) in stretch.0.iter().zip(stretch.1) {
            let [a, b, c, d] = quad;
            // Its box meets the view unless all corners lie beyond one side of it.
            let reaches = |axis: usize| {
                let (low, high) = (min[axis], max[axis]);
                ((a[axis] <= high) | (b[axis] <= high) | (c[axis] <= high) | (d[axis] <= high))
                    & ((a[axis] >= low) | (b[axis] >= low) | (c[axis] >= low) | (d[axis] >= low))
            };
            if reaches(0) && reaches(1) {
                scene.aa_polygon(&project(camera, quad), Colour::rgb(colour));
            }
        }
    }
}

fn draw_skid(scene: &mut Scene, camera: &Camera, skid: Skid, times: i32) {
    for pair in skid.points.windows(2) {
        let ends = project(camera, &[pair[0], pair[1]]);
        scene.lines(&ends, SKID_WIDTH_PX * times, Colour::rgb(skid.colour));
    }
}

/// Wheels first, each with its bright patch, then the hull.
fn draw_car(scene: &mut Scene, camera: &Camera, pose: &Pose) {
    for (wheel, &phase) in pose.wheels.iter().zip(&pose.wheel_phases) {
        draw_part(scene, camera, wheel, WHEEL.iter().copied().map(scaled), WHEEL_COLOR);
        if let Some(patch) = wheel_patch(phase) {
            draw_part(scene, camera, wheel, patch.into_iter(), WHEEL_WHITE);
        }
    }
    for part in HULL {
        draw_part(scene, camera, &pose.hull, part.iter().copied().map(scaled), HULL_COLOR);
    }
}

/// A body's vertex from the reference's drawing units.
fn scaled([x, y]: [i32; 2]) -> Vec2 {
    Vec2::new((f64::from(x) * SIZE) as f32, (f64::from(y) * SIZE) as f32)
}

/// A polygon fixed to a body: placed in f32 as Box2D does, projected in f64 as pygame does.
fn draw_part(
    scene: &mut Scene,
    camera: &Camera,
    body: &Transform,
    vertices: impl Iterator<Item = Vec2>,
    colour: Colour,
) {
    let mut points = [Point::default(); MOST_VERTICES];
    let mut count = 0;
    for (point, vertex) in points.iter_mut().zip(vertices) {
        *point = Point::truncated(camera.project(widened(body.apply(vertex))));
        count += 1;
    }
    scene.polygon(&points[..count], colour);
}

/// The bright patch that shows a wheel turning, on the wheel's body; nothing while it is underneath.
fn wheel_patch(phase: f64) -> Option<[Vec2; 4]> {
    let edge = |angle: f64| (trig::sin(angle), trig::cos(angle));
    let ((sin1, mut cos1), (sin2, mut cos2)) = (edge(phase), edge(phase + WHEEL_PATCH));
    if sin1 > 0.0 && sin2 > 0.0 {
        return None;
    }
    // An edge that is underneath shows at the wheel's rim.
    let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
    if sin1 > 0.0 {
        cos1 = sign(cos1);
    }
    if sin2 > 0.0 {
        cos2 = sign(cos2);
    }
    let x = (WHEEL_W * SIZE) as f32;
    let (y1, y2) = ((WHEEL_R * cos1 * SIZE) as f32, (WHEEL_R * cos2 * SIZE) as f32);
    Some([Vec2::new(-x, y1), Vec2::new(x, y1), Vec2::new(x, y2), Vec2::new(-x, y2)])
}

/// Speed, the four wheels' speeds, steering and turning on a black panel.
fn draw_indicators(scene: &mut Scene, pose: &Pose, times: f64) {
    let far = Point::new(scene.size().width as i32, scene.size().height as i32);
    scene.rectangle(Point::truncated([0.0, PANEL_TOP * times]), far, Colour::BLACK);

    let (vx, vy) = (f64::from(pose.velocity.x), f64::from(pose.velocity.y));
    let speed = (vx * vx + vy * vy).sqrt();
    draw_upright(scene, times, 5.0, speed, 0.02, [255, 255, 255]);
    for (index, &wheel_speed) in pose.wheel_speeds.iter().enumerate() {
        let colour = if index < 2 { [0, 0, 255] } else { [51, 0, 255] };
        draw_upright(scene, times, 7.0 + index as f64, wheel_speed, 0.01, colour);
    }
    draw_level(scene, times, 20.0, pose.steering, -10.0, [0, 255, 0]);
    draw_level(scene, times, 30.0, f64::from(pose.angular_velocity), -0.8, [255, 0, 0]);
}

/// A bar that grows upward from the panel's foot (`vertical_ind`).
fn draw_upright(scene: &mut Scene, times: f64, place: f64, value: f64, scale: f64, colour: [u8; 3]) {
    if value.abs() > LEAST_SHOWN {
        let height = SURFACE.height as f64;
        let top = [place * PLACE_W, height - (PLACE_H + PLACE_H * (scale * value))];
        let foot = [(place + 1.0) * PLACE_W, height - PLACE_H];
        draw_bar(scene, times, [top, foot], colour);
    }
}

/// A bar that grows sideways from its place (`horiz_ind`).
fn draw_level(scene: &mut Scene, times: f64, place: f64, value: f64, scale: f64, colour: [u8; 3]) {
    if value.abs() > LEAST_SHOWN {
        let height = SURFACE.height as f64;
        let start = [place * PLACE_W, height - 4.0 * PLACE_H];
        let end = [(place + scale * value) * PLACE_W, height - 2.0 * PLACE_H];
        draw_bar(scene, times, [start, end], colour);
    }
}

fn draw_bar(scene: &mut Scene, times: f64, corners: [[f64; 2]; 2], colour: [u8; 3]) {
    let [a, b] = corners.map(|corner| Point::truncated(corner.map(|along| along * times)));
    scene.rectangle(a, b, Colour::rgb(colour));
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tolerance;
