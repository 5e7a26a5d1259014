//! The foot of a scene that holds nothing but upright rectangles and pictures: drawn to the byte.
//!
//! Its scanlines change only where a rectangle starts or ends and along a picture, and there only under it
//! (`scanline`). What did not change is counted, not drawn again; a text drawn before is recalled (`memo`).

mod memo;
mod scanline;

use crate::axis::{Axis, Tap};
use crate::canvas::Canvas;
use crate::filter::high;
use crate::scene::{Item, Shape};
use crate::{Colour, Scene};
use memo::{Key, Memo};
use reinfors_math::cpu::{Kernel, Level};
use scanline::{Content, Scanline};
use std::ops::Range;

/// Working memory for one panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    scanline: Scanline,
    /// Sums of the output row so far, channel by channel.
    sums: [Vec<u16>; 3],
    memo: Memo,
}

/// Where a panel is: the items that draw it, the background first, and the rows that show nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub first_item: usize,
    pub rows: Range<usize>,
}

impl Place {
    /// The panel of a scene, if it has one.
    pub fn find(scene: &Scene, rows: &Axis) -> Option<Self> {
        let (width, height) = (scene.size().width as i32, scene.size().height as i32);
        let items = scene.items();
        let is_flat = |item: &Item| {
            matches!(item.shape, Shape::Rectangle { .. } | Shape::Bitmap { .. }) && !scene.is_flipped(item)
        };
        let start = items.iter().rposition(|item| !is_flat(item)).map_or(0, |index| index + 1);
        let is_ground = |item: &Item| match item.shape {
            Shape::Rectangle { min, max } => min.x <= 0 && max.x >= width - 1 && max.y >= height - 1,
            _ => false,
        };
        let first_item = start + items[start..].iter().rposition(is_ground)?;
        let top = items[first_item].rows.min;
        let shows_nothing_else = |tap: &Tap| {
            let above = tap.start as i32 - 1;
            tap.start as i32 >= top && (above >= top || Axis::fraction(255, tap.lead) == 0)
        };
        let first_row = rows.taps.iter().position(shows_nothing_else)?;
        Some(Self { first_item, rows: first_row..rows.taps.len() })
    }
}

/// A text that can be remembered: which of the panel's items it is, and the columns it lies in.
struct Known {
    item: usize,
    key: Key,
    columns: Range<usize>,
}

/// The rows of a panel.
struct DrawPanel<'a, 'b> {
    panel: &'a mut Panel,
    scene: &'a Scene,
    place: &'a Place,
    axes: [&'a Axis; 2],
    canvas: &'a mut Canvas<'b>,
}

impl Kernel for DrawPanel<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.panel.draw_place(self.scene, self.place, self.axes, self.canvas);
    }
}

impl Panel {
    pub fn new(columns: &Axis) -> Self {
        Self {
            scanline: Scanline::new(columns),
            sums: std::array::from_fn(|_| vec![0; columns.taps.len()]),
            memo: Memo::default(),
        }
    }

    /// Draws the rows of `place`, shrunk along columns and rows.
    pub fn draw(
        &mut self,
        level: Level,
        scene: &Scene,
        place: &Place,
        axes: [&Axis; 2],
        canvas: &mut Canvas,
    ) {
        level.run(DrawPanel { panel: self, scene, place, axes, canvas });
    }

    #[inline(always)]
    fn draw_place(&mut self, scene: &Scene, place: &Place, [columns, rows]: [&Axis; 2], canvas: &mut Canvas) {
        let items = &scene.items()[place.first_item..];
        let known = self.known_text(scene, items, place, columns);
        let recalled = known.as_ref().filter(|known| self.memo.holds(&known.key));
        let skipped = recalled.map(|known| known.item);
        self.draw_rows(&Content { scene, items, skipped, columns }, place, rows, canvas);
        if let Some(Known { key, columns, .. }) = known {
            if skipped.is_some() {
                for plane in 0..3 {
                    self.memo.recall(&key, canvas.cells(plane, place.rows.clone(), columns.clone()));
                }
            } else {
                self.memo.keep(key, canvas.cells(0, place.rows.clone(), columns));
            }
        }
    }

    /// Scanline after scanline; the last one before the panel has its share in the first row. Columns that
    /// show nothing but black are left out.
    #[inline(always)]
    fn draw_rows(&mut self, content: &Content, place: &Place, rows: &Axis, canvas: &mut Canvas) {
        let Self { scanline, sums, .. } = self;
        let first = &rows.taps[place.rows.start];
        let mut y = first.start as i32;
        let is_shared = Axis::fraction(255, first.lead) > 0;
        let mut change = scanline.restart(content, if is_shared { y - 1 } else { y });
        for (sums, line) in sums.iter_mut().zip(&scanline.line) {
            for (sum, &byte) in sums.iter_mut().zip(line) {
                *sum = if is_shared { high(4 * u16::from(byte), first.lead as u16) } else { 0 };
            }
        }
        let width = canvas.size.width;
        for plane in &mut canvas.planes {
            plane[place.rows.start * width..place.rows.end * width].fill(0);
        }
        for row in place.rows.clone() {
            let tap = &rows.taps[row];
            let last = (tap.start + tap.len - 1) as i32;
            let lit = scanline.lit(content, tap.start as i32 - 1..last + 1);
            while y < last {
                if y >= change {
                    change = scanline.advance(content, y);
                }
                let count = (change.min(last) - y) as u16;
                for (sums, line) in sums.iter_mut().zip(&scanline.line) {
                    add(&mut sums[lit.clone()], &line[lit.clone()], count);
                }
                y += i32::from(count);
            }
            if y >= change {
                change = scanline.advance(content, y);
            }
            y += 1;
            let weights = [tap.tail as u16, (0x4000 - tap.tail) as u16, rows.reciprocal as u16];
            for (plane, (sums, line)) in canvas.planes.iter_mut().zip(sums.iter_mut().zip(&scanline.line)) {
                let cells = &mut plane[row * width..][lit.clone()];
                finish(cells, &mut sums[lit.clone()], &line[lit.clone()], weights);
            }
        }
    }

    /// The panel's last picture, if it is a short text and stands alone on black.
    #[inline(always)]
    fn known_text(&self, scene: &Scene, items: &[Item], place: &Place, columns: &Axis) -> Option<Known> {
        let item = items.iter().rposition(|item| matches!(item.shape, Shape::Bitmap { .. }))?;
        let Shape::Bitmap { min, size, greys } = &items[item].shape else { return None };
        let reach = self.scanline.reach(columns, min.x, min.x + size.width as i32 - 1)?;
        let key = Key::new(scene.label(greys)?, *min, reach.len() * place.rows.len())?;
        is_alone(items, item, columns, &reach).then_some(Known { item, key, columns: reach })
    }
}

/// Adds a line of bytes so many times.
#[inline(always)]
fn add(sums: &mut [u16], line: &[u8], count: u16) {
    for (sum, &byte) in sums.iter_mut().zip(line) {
        *sum += count * u16::from(byte);
    }
}

/// Makes bytes of the sums with the share of the last line, whose other share begins the next sums.
#[inline(always)]
fn finish(cells: &mut [u8], sums: &mut [u16], line: &[u8], [tail, lead, reciprocal]: [u16; 3]) {
    for (cell, (sum, &byte)) in cells.iter_mut().zip(sums.iter_mut().zip(line)) {
        let scaled = 4 * u16::from(byte);
        *cell = high(*sum + high(scaled, tail), reciprocal) as u8;
        *sum = high(scaled, lead);
    }
}

/// Whether the columns of a picture show nothing else, and the background is black.
#[inline(always)]
fn is_alone(items: &[Item], picture: usize, columns: &Axis, reach: &Range<usize>) -> bool {
    let last = &columns.taps[reach.end - 1];
    let (left, right) = (columns.taps[reach.start].start as i32 - 1, (last.start + last.len) as i32 - 1);
    let meets = |(index, item): (usize, &Item)| match item.shape {
        Shape::Rectangle { min, max } => index > 0 && min.x <= right && max.x >= left,
        Shape::Bitmap { min, size, .. } => {
            index != picture && min.x <= right && min.x + size.width as i32 > left
        }
        _ => false,
    };
    items[0].colour == Colour::BLACK && !items.iter().enumerate().any(meets)
}
