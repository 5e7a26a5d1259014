//! The scene at the small size, byte for byte what [`smoothscale`](crate::smoothscale()) makes of the full
//! surface, without ever having the full surface.
//!
//! The surface is drawn in strips of scanlines that stay in the cache ([`Strip`]). A strip starts at the last
//! shape that covers all of it. Each finished scanline is shrunk across, then added to its output row.

use crate::axis::Axis;
use crate::brush::{Brush, Scratch};
use crate::filter::RowShrink;
use crate::scene::{Item, Shape};
use crate::strip::Strip;
use crate::{Colour, Layout, Scene, Size, SizeError};
use std::ops::Range;

/// Scanlines drawn at a time: a few hundred kilobytes, within a core's second-level cache.
const STRIP_ROWS: usize = 100;

/// Draws scenes at one small size. Keeps its buffers: a frame allocates nothing.
#[derive(Clone, Debug)]
pub struct Thumbnail {
    surface: Size,
    size: Size,
    layout: Layout,
    strip: Strip,
    scratch: Scratch,
    shrink: RowShrink,
    line: Vec<[u8; 4]>,
}

impl Thumbnail {
    /// For scenes of `surface`, drawn at `size` in the given layout.
    ///
    /// # Errors
    /// [`SizeError`] unless `size` is smaller than `surface` on both axes, and not below 1/250 of it.
    pub fn new(surface: Size, size: Size, layout: Layout) -> Result<Self, SizeError> {
        let [columns, rows] = Axis::both(surface, size)?;
        Ok(Self {
            surface,
            size,
            layout,
            strip: Strip::new(columns, STRIP_ROWS.min(surface.height)),
            scratch: Scratch::default(),
            shrink: RowShrink::new(rows, size.width),
            line: vec![[0; 4]; size.width],
        })
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
        self.shrink.restart();
        self.strip.clear_palette();
        for start in (0..self.surface.height).step_by(STRIP_ROWS) {
            let rows = start..(start + STRIP_ROWS).min(self.surface.height);
            self.draw_strip(scene, rows.clone());
            for row in 0..rows.len() {
                self.strip.shrink(row, &mut self.line);
                if let Some((index, pixels)) = self.shrink.push(&self.line) {
                    self.layout.write_row(out, self.size, index, pixels);
                }
            }
        }
    }

    fn draw_strip(&mut self, scene: &Scene, rows: Range<usize>) {
        let height = self.surface.height as i32;
        let window = |item: &Item| {
            let (start, end) = (rows.start as i32, rows.end as i32);
            if scene.is_flipped(item) { height - end..height - start } else { start..end }
        };
        let items = scene.items();
        let covers = |item: &&Item| covers(item, &window(item), self.surface.width);
        let base = items.iter().rposition(|item| covers(&item));
        let ground = base.map_or(Colour::BLACK, |index| items[index].colour);
        let paint = self.strip.paint(ground);
        self.strip.fill(rows.len(), paint);
        for item in &items[base.map_or(0, |index| index + 1)..] {
            let window = window(item);
            if item.rows.max < window.start || item.rows.min >= window.end {
                continue;
            }
            let brush = Brush::new(&mut self.strip, item.colour, window, scene.is_flipped(item));
            brush.draw(scene, item, self.surface, &mut self.scratch);
        }
    }
}

/// Whether a shape paints every pixel of the window.
fn covers(item: &Item, window: &Range<i32>, width: usize) -> bool {
    match item.shape {
        Shape::Rectangle { min, max } => {
            min.x <= 0 && max.x >= width as i32 - 1 && min.y <= window.start && max.y >= window.end - 1
        }
        _ => false,
    }
}
