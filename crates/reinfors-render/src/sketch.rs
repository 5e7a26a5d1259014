//! The scene drawn straight at the small size, from areas instead of pixels: a few levels off [`Thumbnail`]
//! at the edges of shapes, the same elsewhere, and many times faster.
//!
//! 1. Smooth polygons become outlines of what `gfxdraw` paints, and outlines become exact areas of cells
//!    (`mesh`, `coverage`). A mesh of polygons is one layer: nothing shines through the edges they share.
//!    Layers become bytes together (`compose`).
//! 2. Hard shapes are small and cover each other: their very pixels are kept as bits, and counted
//!    (`stencil`).
//! 3. A panel of rectangles and text at the foot is drawn to the byte (`panel`).
//! 4. Each stage is a kernel of its own, compiled for each level of the processor. Nothing is fused or
//!    approximated, so that all levels give the same bytes.
//!
//! The road not taken: drawing a few of the scanlines exactly. It costs several times as much, and what it
//! leaves out is just what matters, edges that are almost level.
//!
//! [`Thumbnail`]: crate::Thumbnail

mod blocks;
mod compose;
mod coverage;
mod mesh;
mod picture;
mod spans;
mod stencil;

use crate::axis::Axis;
use crate::canvas::{Canvas, Interleave};
use crate::panel::{Panel, Place};
use crate::scene::{Item, Shape};
use crate::{Colour, Layout, Point, Scene, Size, SizeError};
use coverage::{COLOURED, Coverage, GREY, Grid, LAYERS, PLAIN};
use mesh::Mesh;
use reinfors_math::cpu::{Kernel, Level};
use stencil::Stencil;

/// Draws scenes at one small size, nearly as [`Thumbnail`](crate::Thumbnail) does. Keeps its buffers: a frame
/// allocates nothing.
#[derive(Clone, Debug)]
pub struct Sketch {
    surface: Size,
    size: Size,
    layout: Layout,
    axes: Axes,
    level: Level,
    /// The planes of a picture whose layout has none.
    planes: Vec<u8>,
    mesh: Mesh,
    coverage: Coverage,
    stencil: Stencil,
    panel: Panel,
}

/// Which pixels of the surface fall into which cells, and what becomes of their colours.
#[derive(Clone, Debug)]
struct Axes {
    columns: Axis,
    rows: Axis,
    /// Levels that a uniform colour loses to truncation, across and down.
    loss: u8,
}

impl Axes {
    fn new(columns: Axis, rows: Axis) -> Self {
        const BRIGHT: u8 = 200;
        let (column, row) = (columns.taps.len() / 2, rows.taps.len() / 2);
        let loss = BRIGHT - rows.uniform(row, columns.uniform(column, BRIGHT));
        Self { columns, rows, loss }
    }

    /// A colour in the levels of the canvas. Black goes below 0 there: what is mixed with it loses as much.
    #[inline(always)]
    fn ink(&self, colour: Colour) -> [f32; 3] {
        colour.channels().map(|channel| f32::from(channel) - f32::from(self.loss))
    }
}

/// The edges of a layer of polygons, from their corners to their areas.
struct AddMesh<'a> {
    mesh: &'a mut Mesh,
    coverage: &'a mut Coverage,
    axes: &'a Axes,
    scene: &'a Scene,
    layer: &'a [Item],
    grid: Grid,
}

impl Kernel for AddMesh<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { mesh, coverage, axes, scene, layer, grid } = self;
        mesh.clear();
        for item in layer {
            let Shape::AaPolygon { points } = &item.shape else { continue };
            let points = scene.points(points);
            if is_seen(item, points, scene.size()) {
                mesh.push(points, axes.ink(item.colour));
            }
        }
        mesh.trace(grid, coverage);
    }
}

impl Sketch {
    /// For scenes of `surface`, drawn at `size` in the given layout.
    ///
    /// # Errors
    /// [`SizeError`] unless `size` is smaller than `surface` on both axes, and not below 1/250 of it.
    pub fn new(surface: Size, size: Size, layout: Layout) -> Result<Self, SizeError> {
        let [columns, rows] = Axis::both(surface, size)?;
        let planes = if layout == Layout::Chw { 0 } else { 3 * size.area() };
        Ok(Self {
            surface,
            size,
            layout,
            level: Level::best(),
            planes: vec![0; planes],
            mesh: Mesh::default(),
            coverage: Coverage::new(size),
            stencil: Stencil::default(),
            panel: Panel::new(&columns),
            axes: Axes::new(columns, rows),
        })
    }

    /// The same with the instructions of `level`; pictures do not depend on it.
    #[must_use]
    pub const fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The output's size.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Draws `scene` into `out`, a picture in this sketch's layout.
    ///
    /// # Panics
    /// If the scene is of another surface size, or `out` of another length.
    pub fn draw(&mut self, scene: &Scene, out: &mut [u8]) {
        assert_eq!(scene.size(), self.surface, "a scene of this sketch's surface");
        assert_eq!(out.len(), self.layout.channels() * self.size.area(), "a picture in this layout");
        if self.layout == Layout::Chw {
            return self.draw_scene(scene, &mut Canvas::over(out, self.size));
        }
        let mut planes = std::mem::take(&mut self.planes);
        self.draw_scene(scene, &mut Canvas::over(&mut planes, self.size));
        let is_gray = self.layout == Layout::Gray;
        self.level.run(Interleave { planes: &planes, is_gray, out });
        self.planes = planes;
    }

    fn draw_scene(&mut self, scene: &Scene, canvas: &mut Canvas) {
        let place = Place::find(scene, &self.axes.rows);
        let (world, limit) = match &place {
            Some(place) => (place.first_item, self.axes.rows.taps[place.rows.start].start),
            None => (scene.items().len(), self.surface.height),
        };
        self.coverage.height = place.as_ref().map_or(self.size.height, |place| place.rows.start);
        let (world, panel) = scene.items().split_at(world);
        let base = world.iter().rposition(|item| item.covers(self.surface));
        let mut ground = Some(self.axes.ink(base.map_or(Colour::BLACK, |index| world[index].colour)));
        let visible = &world[base.map_or(0, |index| index + 1)..];
        // A panel's bars may rise above it.
        let rising = if panel.iter().any(|item| item.rows.min < limit as i32) { panel } else { &[] };
        for items in [visible, rising] {
            self.draw_layers(scene, items, limit as i32, &mut ground, canvas);
        }
        self.coverage.compose(self.level, &mut ground, canvas);
        if let Some(place) = &place {
            let Axes { columns, rows, .. } = &self.axes;
            self.panel.draw(self.level, scene, place, [columns, rows], canvas);
        }
    }

    /// Draws scanlines above `limit`, layer by layer. `ground` is the colour everywhere, until it is drawn.
    fn draw_layers(
        &mut self,
        scene: &Scene,
        items: &[Item],
        limit: i32,
        ground: &mut Option<[f32; 3]>,
        canvas: &mut Canvas,
    ) {
        let mut rest = items;
        while let Some(first) = rest.first() {
            let count = rest.iter().skip(1).take_while(|item| joins(first, item)).count() + 1;
            let (layer, later) = rest.split_at(count);
            rest = later;
            let is_mesh = matches!(first.shape, Shape::AaPolygon { .. });
            if !is_mesh || self.coverage.count == LAYERS {
                self.coverage.compose(self.level, ground, canvas);
            }
            match &first.shape {
                Shape::AaPolygon { .. } => self.add_mesh(scene, layer),
                Shape::Bitmap { .. } => picture::draw(scene, first, limit, &self.axes, canvas),
                _ => self.stencil.draw(self.level, scene, layer, limit, &self.axes, canvas),
            }
        }
    }

    /// Makes a mesh a layer of the coverage.
    fn add_mesh(&mut self, scene: &Scene, layer: &[Item]) {
        let (size, surface) = (self.size, self.surface);
        let grid = Grid {
            scale: [size.width as f32 / surface.width as f32, size.height as f32 / surface.height as f32],
            flipped: scene.is_flipped(&layer[0]).then_some(surface.height as f32),
        };
        let Self { mesh, coverage, axes, level, .. } = self;
        level.run(AddMesh { mesh, coverage, axes, scene, layer, grid });
        if let Some(ink) = mesh.plain() {
            coverage.close_layer::<PLAIN>(*level, ink);
        } else if mesh.is_grey() {
            coverage.close_layer::<GREY>(*level, [0.0; 3]);
        } else {
            coverage.close_layer::<COLOURED>(*level, [0.0; 3]);
        }
    }
}

/// Whether the box of a polygon, soft edges included, meets the surface.
#[inline(always)]
fn is_seen(item: &Item, points: &[Point], surface: Size) -> bool {
    const SOFT: i32 = 2;
    let (width, height) = (surface.width as i32 + SOFT, surface.height as i32 + SOFT);
    if item.rows.max < -SOFT || item.rows.min > height {
        return false;
    }
    let (mut left, mut right) = (i32::MAX, i32::MIN);
    for point in points {
        (left, right) = (left.min(point.x), right.max(point.x));
    }
    left <= width && right >= -SOFT
}

/// Whether an item belongs to the layer that `first` starts: the same mesh, or hard shapes the same side up.
#[inline(always)]
fn joins(first: &Item, item: &Item) -> bool {
    let is_hard = |item: &Item| !matches!(item.shape, Shape::AaPolygon { .. } | Shape::Bitmap { .. });
    let meets = match (&first.shape, &item.shape) {
        (Shape::AaPolygon { .. }, Shape::AaPolygon { .. }) => first.mesh == item.mesh && first.mesh != 0,
        _ => is_hard(first) && is_hard(item),
    };
    meets && first.flips == item.flips
}
