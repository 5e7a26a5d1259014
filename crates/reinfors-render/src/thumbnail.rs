//! The scene at the small size, byte for byte what [`smoothscale`](crate::smoothscale()) makes of the full
//! surface, without ever having the full surface.
//!
//! 1. An output pixel is a *cell*: it depends on a dozen columns and rows of the surface and on nothing else.
//!    Nine cells of ten lie inside one shape and are its colour; only the others are drawn, each from the
//!    shapes that touch it (`cells`).
//! 2. Shapes are formulas, not pixels: spans row by row for what is filled (`ink`, `spans`), a slope for a soft
//!    edge (`outline`). Sixteen rows of a cell are one vector, so that a column of the surface costs a few
//!    operations and the sum across needs none of its own.
//! 3. What is to be drawn is sorted first (`jobs`): most cells are one edge (`edge`), the rest take a few
//!    columns of memory (`mix`), or are two shapes of spans (`pair`). Each kind is a kernel of its own.
//! 4. A channel that no colour of a cell changes is not drawn, nor one that equals another.
//!
//! The road not taken: whole scanlines, painted span after span, then shrunk. It is simpler, but every span
//! ends in two unpredictable places, and every mixed pixel is written and read once more.

mod cells;
mod chains;
mod edge;
mod extents;
mod fills;
mod flat;
mod ink;
mod jobs;
mod mix;
mod opacity;
mod outline;
mod pair;
mod reach;
mod rows;
mod sets;
mod sort;
mod spans;
mod steep;
mod sums;
mod windows;

use crate::axis::Axis;
use crate::canvas::{Canvas, Interleave};
use crate::panel::{self, Panel};
use crate::{Colour, Layout, Scene, Size, SizeError};
use cells::Cells;
use edge::{Border, DrawEdges};
use extents::Extents;
use ink::Inks;
use jobs::Jobs;
use mix::DrawMixes;
use reinfors_math::cpu::{Kernel, Level};
use sort::{Sight, Sort, Sorter};
use windows::Windows;

/// Draws scenes at one small size. Keeps its buffers: a frame allocates nothing.
#[derive(Clone, Debug)]
pub struct Thumbnail {
    surface: Size,
    size: Size,
    layout: Layout,
    level: Level,
    columns: Windows,
    borders: Vec<Border>,
    rows: Windows,
    inks: Inks,
    extents: Extents,
    cells: Cells,
    sorter: Sorter,
    jobs: Jobs,
    panel: Panel,
    axes: [Axis; 2],
    /// The channels, where the layout does not have them apart.
    planes: Vec<u8>,
}

/// A shape after the other is told to the cells. Results in the colour below them.
struct Prepare<'a> {
    thumbnail: &'a mut Thumbnail,
    scene: &'a Scene,
}

impl Kernel for Prepare<'_> {
    type Output = Colour;

    #[inline(always)]
    fn run(self) -> Colour {
        self.thumbnail.prepare(self.scene)
    }
}

impl Thumbnail {
    /// For scenes of `surface`, drawn at `size` in the given layout.
    ///
    /// # Errors
    /// [`SizeError`] unless `size` is smaller than `surface` on both axes, and not below 1/250 of it.
    pub fn new(surface: Size, size: Size, layout: Layout) -> Result<Self, SizeError> {
        let axes = Axis::both(surface, size)?;
        let [columns, rows] = axes.each_ref().map(Windows::new);
        let planes = if layout == Layout::Chw { 0 } else { 3 * size.area() };
        Ok(Self {
            surface,
            size,
            layout,
            level: Level::best(),
            inks: Inks::new(surface),
            extents: Extents::NONE,
            cells: Cells::new(size),
            sorter: Sorter::new(),
            jobs: Jobs::new(size.area()),
            panel: Panel::new(&axes[0]),
            borders: Border::of(&columns),
            axes,
            planes: vec![0; planes],
            columns,
            rows,
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

    /// Draws `scene` into `out`, a picture in this thumbnail's layout.
    ///
    /// # Panics
    /// If the scene is of another surface size, or `out` of another length.
    pub fn draw(&mut self, scene: &Scene, out: &mut [u8]) {
        assert_eq!(scene.size(), self.surface, "a scene of this thumbnail's surface");
        assert_eq!(out.len(), self.layout.channels() * self.size.area(), "a picture in this layout");
        if self.layout == Layout::Chw {
            return self.draw_planes(scene, &mut Canvas::over(out, self.size));
        }
        let mut planes = std::mem::take(&mut self.planes);
        self.draw_planes(scene, &mut Canvas::over(&mut planes, self.size));
        let is_gray = self.layout == Layout::Gray;
        self.level.run(Interleave { planes: &planes, is_gray, out });
        self.planes = planes;
    }

    fn draw_planes(&mut self, scene: &Scene, canvas: &mut Canvas) {
        let panel = panel::Place::find(scene, &self.axes[1]);
        // The rows above the panel, or all of them.
        self.rows.limit(panel.as_ref().map_or(self.size.height, |panel| panel.rows.start));
        let ground = self.level.run(Prepare { thumbnail: self, scene });
        let Self { columns, rows, inks, cells, sorter, jobs, level, .. } = self;
        let sight = Sight { ground, cells, inks, axes: (columns, rows) };
        level.run(Sort { sight, sorter, jobs, canvas });
        self.draw_edges::<1>(canvas);
        self.draw_edges::<2>(canvas);
        self.draw_edges::<3>(canvas);
        self.draw_mixes::<1>(scene, canvas);
        self.draw_mixes::<2>(scene, canvas);
        self.draw_mixes::<3>(scene, canvas);
        if let Some(place) = &panel {
            self.panel.draw(self.level, scene, place, self.axes.each_ref(), canvas);
        }
    }

    #[inline(always)]
    fn prepare(&mut self, scene: &Scene) -> Colour {
        let Self { surface, columns, rows, inks, extents, cells, .. } = self;
        let items = scene.items();
        let base = items.iter().rposition(|item| item.covers(*surface));
        let first = base.map_or(0, |index| index + 1);
        let ground = base.map_or(Colour::BLACK, |index| items[index].colour);
        let axes = (&*columns, &*rows);
        cells.clear();
        inks.clear();
        for item in &items[first..] {
            if let Some(index) = inks.push(scene, item, axes) {
                inks.place(index, cells, extents, axes);
            }
        }
        ground
    }

    fn draw_edges<const N: usize>(&mut self, canvas: &mut Canvas) {
        let Self { columns, rows, borders, inks, jobs, level, .. } = self;
        if jobs.edges[N - 1].iter().any(|edges| !edges.is_empty()) {
            level.run(DrawEdges::<N> { jobs, inks, axes: (columns, rows), borders, canvas });
        }
    }

    fn draw_mixes<const N: usize>(&mut self, scene: &Scene, canvas: &mut Canvas) {
        let Self { columns, rows, inks, jobs, level, .. } = self;
        let (mixes, marks, axes) = (&jobs.mixes[N - 1][..], &jobs.marks[..], (&*columns, &*rows));
        if mixes.is_empty() {
            return;
        }
        level.run(DrawMixes::<N> { mixes, marks, inks, scene, axes, canvas });
    }
}
