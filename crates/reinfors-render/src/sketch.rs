//! The scene drawn straight at the small size, from areas instead of pixels: a few levels off [`Thumbnail`]
//! at the edges of shapes, the same elsewhere, and many times faster.
//!
//! 1. Smooth polygons become outlines of what `gfxdraw` paints, and outlines become exact areas of cells
//!    (`mesh`, `coverage`). A mesh of polygons is one layer: nothing shines through the edges they share.
//! 2. Hard shapes are small and cover each other: their very pixels are kept as bits, and counted
//!    (`stencil`).
//! 3. A panel of rectangles and text at the foot is drawn to the byte (`panel`).
//! 4. Everything is inlined into one kernel per level of the processor. Nothing is fused or approximated, so
//!    that all levels give the same bytes.
//!
//! The road not taken: drawing a few of the scanlines exactly. It costs several times as much, and what it
//! leaves out is just what matters, edges that are almost level.
//!
//! [`Thumbnail`]: crate::Thumbnail

mod canvas;
mod coverage;
mod mesh;
mod panel;
mod picture;
mod spans;
mod stencil;

use crate::axis::Axis;
use crate::layout::luminance;
use crate::scene::{Item, Shape};
use crate::{Colour, Layout, Point, Scene, Size, SizeError};
use canvas::Canvas;
use coverage::{COLOURED, Coverage, GREY, PLAIN};
use mesh::{Grid, Mesh};
use panel::{Panel, Place};
use reinfors_math::cpu::{Kernel, Level};
use stencil::Stencil;

/// Draws scenes at one small size, nearly as [`Thumbnail`](crate::Thumbnail) does. Keeps its buffers: a frame
/// allocates nothing.
#[derive(Clone, Debug)]
pub struct Sketch {
    surface: Size,
    layout: Layout,
    axes: Axes,
    level: Level,
    canvas: Canvas,
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

/// One frame, to be compiled for each level.
struct Frame<'a> {
    sketch: &'a mut Sketch,
    scene: &'a Scene,
    out: &'a mut [u8],
}

impl Kernel for Frame<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sketch.draw_scene(self.scene);
        self.sketch.write(self.out);
    }
}

impl Sketch {
    /// For scenes of `surface`, drawn at `size` in the given layout.
    ///
    /// # Errors
    /// [`SizeError`] unless `size` is smaller than `surface` on both axes, and not below 1/250 of it.
    pub fn new(surface: Size, size: Size, layout: Layout) -> Result<Self, SizeError> {
        let [columns, rows] = Axis::both(surface, size)?;
        Ok(Self {
            surface,
            layout,
            level: Level::best(),
            canvas: Canvas::new(size),
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
        self.canvas.size
    }

    /// Draws `scene` into `out`, a picture in this sketch's layout.
    ///
    /// # Panics
    /// If the scene is of another surface size, or `out` of another length.
    pub fn draw(&mut self, scene: &Scene, out: &mut [u8]) {
        assert_eq!(scene.size(), self.surface, "a scene of this sketch's surface");
        assert_eq!(out.len(), self.layout.channels() * self.size().area(), "a picture in this layout");
        self.level.run(Frame { sketch: self, scene, out });
    }

    #[inline(always)]
    fn draw_scene(&mut self, scene: &Scene) {
        let place = Place::find(scene, &self.axes.rows);
        let (world, limit) = match &place {
            Some(place) => (place.first_item, self.axes.rows.taps[place.rows.start].start),
            None => (scene.items().len(), self.surface.height),
        };
        let (world, panel) = scene.items().split_at(world);
        let covers = |item: &Item| match item.shape {
            Shape::Rectangle { min, max } => {
                let far = max.x >= self.surface.width as i32 - 1 && max.y >= self.surface.height as i32 - 1;
                min.x <= 0 && min.y <= 0 && far
            }
            _ => false,
        };
        let base = world.iter().rposition(covers);
        let ground = base.map_or(Colour::BLACK, |index| world[index].colour);
        self.canvas.fill(ground.channels().map(|channel| channel.saturating_sub(self.axes.loss)));
        let visible = &world[base.map_or(0, |index| index + 1)..];
        // A panel's bars may rise above it.
        let rising = if panel.iter().any(|item| item.rows.min < limit as i32) { panel } else { &[] };
        for items in [visible, rising] {
            self.draw_layers(scene, items, limit as i32);
        }
        if let Some(place) = &place {
            self.panel.draw(scene, place, &self.axes, &mut self.canvas);
        }
    }

    /// Draws scanlines above `limit`, layer by layer.
    #[inline(always)]
    fn draw_layers(&mut self, scene: &Scene, items: &[Item], limit: i32) {
        let mut rest = items;
        while let Some(first) = rest.first() {
            let count = rest.iter().skip(1).take_while(|item| joins(first, item)).count() + 1;
            let (layer, later) = rest.split_at(count);
            rest = later;
            match &first.shape {
                Shape::AaPolygon { .. } => self.draw_mesh(scene, layer),
                Shape::Bitmap { .. } => picture::draw(scene, first, limit, &self.axes, &mut self.canvas),
                _ => self.stencil.draw(scene, layer, limit, &self.axes, &mut self.canvas),
            }
        }
    }

    #[inline(always)]
    fn draw_mesh(&mut self, scene: &Scene, layer: &[Item]) {
        self.mesh.clear();
        for item in layer {
            if let Shape::AaPolygon { points } = &item.shape
                && is_seen(scene.points(points), self.surface)
            {
                self.mesh.push(scene.points(points), self.axes.ink(item.colour));
            }
        }
        let (size, surface) = (self.size(), self.surface);
        let grid = Grid {
            scale: [size.width as f32 / surface.width as f32, size.height as f32 / surface.height as f32],
            flipped: scene.is_flipped(&layer[0]).then_some(surface.height as f32),
        };
        self.mesh.trace(grid, &mut self.coverage);
        if let Some(ink) = self.mesh.plain() {
            self.coverage.sweep::<PLAIN>(&mut self.canvas, ink);
        } else if self.mesh.is_grey() {
            self.coverage.sweep::<GREY>(&mut self.canvas, [0.0; 3]);
        } else {
            self.coverage.sweep::<COLOURED>(&mut self.canvas, [0.0; 3]);
        }
    }

    #[inline(always)]
    fn write(&self, out: &mut [u8]) {
        let size = self.size();
        let planes = self.canvas.planes.each_ref().map(|plane| plane.chunks_exact(self.canvas.stride));
        match self.layout {
            Layout::Chw => {
                for (plane, rows) in out.chunks_exact_mut(size.area()).zip(planes) {
                    for (line, row) in plane.chunks_exact_mut(size.width).zip(rows) {
                        line.copy_from_slice(&row[..size.width]);
                    }
                }
            }
            Layout::Hwc => {
                let [reds, greens, blues] = planes;
                let rows = reds.zip(greens).zip(blues);
                for (line, ((reds, greens), blues)) in out.chunks_exact_mut(3 * size.width).zip(rows) {
                    let pixels = reds.iter().zip(greens).zip(blues);
                    for (pixel, ((&red, &green), &blue)) in line.chunks_exact_mut(3).zip(pixels) {
                        pixel.copy_from_slice(&[red, green, blue]);
                    }
                }
            }
            Layout::Gray => {
                let [reds, greens, blues] = planes;
                let rows = reds.zip(greens).zip(blues);
                for (line, ((reds, greens), blues)) in out.chunks_exact_mut(size.width).zip(rows) {
                    let pixels = reds.iter().zip(greens).zip(blues);
                    for (byte, ((&red, &green), &blue)) in line.iter_mut().zip(pixels) {
                        *byte = luminance([red, green, blue, 0]);
                    }
                }
            }
        }
    }
}

/// Whether the box of a polygon, soft edges included, meets the surface.
#[inline(always)]
fn is_seen(points: &[Point], surface: Size) -> bool {
    const SOFT: i32 = 2;
    let (width, height) = (surface.width as i32 + SOFT, surface.height as i32 + SOFT);
    let (mut left, mut right, mut above, mut below) = (true, true, true, true);
    for point in points {
        left &= point.x < -SOFT;
        right &= point.x > width;
        above &= point.y < -SOFT;
        below &= point.y > height;
    }
    !(left | right | above | below)
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
