//! The foot of a scene that holds nothing but upright rectangles and pictures: drawn to the byte.
//!
//! Its scanlines change only where a rectangle starts or ends and along a picture, and there only under it
//! (`scanline`). What did not change is counted, not drawn again; a picture seen before is recalled (`memo`).

mod memo;
mod scanline;

use super::Axes;
use super::canvas::Canvas;
use crate::axis::{Axis, Tap};
use crate::scene::{Item, Shape};
use crate::{Colour, Scene};
use memo::Memo;
use scanline::{Content, Scanline};
use std::ops::Range;

/// Working memory for one panel.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    scanline: Scanline,
    /// Sums of the output row so far, channel by channel.
    sums: [Vec<u16>; 3],
    memo: Memo,
}

/// Where a panel is: the items that draw it, the background first, and the rows that show nothing else.
#[derive(Clone, Debug)]
pub(super) struct Place {
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

/// A picture that can be remembered.
struct Known {
    /// Its place among the panel's items, and in the memo.
    item: usize,
    slot: usize,
    is_kept: bool,
    /// The columns it lies in.
    columns: Range<usize>,
}

impl Panel {
    pub fn new(columns: &Axis) -> Self {
        Self {
            scanline: Scanline::new(columns),
            sums: std::array::from_fn(|_| vec![0; columns.taps.len()]),
            memo: Memo::default(),
        }
    }

    /// Draws the rows of `place`.
    #[inline(always)]
    pub fn draw(&mut self, scene: &Scene, place: &Place, axes: &Axes, canvas: &mut Canvas) {
        let items = &scene.items()[place.first_item..];
        let known = self.known_picture(scene, items, place, &axes.columns);
        let skipped = known.as_ref().and_then(|known| known.is_kept.then_some(known.item));
        self.draw_rows(&Content { scene, items, skipped, columns: &axes.columns }, place, &axes.rows, canvas);
        let Some(known) = known else { return };
        if let Shape::Bitmap { min, size, greys } = &items[known.item].shape {
            let cells = canvas.cells(place.rows.clone(), known.columns);
            if known.is_kept {
                self.memo.recall(known.slot, cells);
            } else {
                self.memo.keep(known.slot, scene.greys(greys), *min, *size, cells);
            }
        }
    }

    /// Scanline after scanline; the last one before the panel has its share in the first row.
    #[inline(always)]
    fn draw_rows(&mut self, content: &Content, place: &Place, rows: &Axis, canvas: &mut Canvas) {
        let Self { scanline, sums, .. } = self;
        let first = &rows.taps[place.rows.start];
        let mut y = first.start as i32;
        let mut change = scanline.restart(content, y - 1);
        for (sums, line) in sums.iter_mut().zip(&scanline.line) {
            for (sum, &byte) in sums.iter_mut().zip(line) {
                *sum = high(4 * u16::from(byte), first.lead as u16);
            }
        }
        for row in place.rows.clone() {
            let tap = &rows.taps[row];
            let last = (tap.start + tap.len - 1) as i32;
            while y < last {
                if y >= change {
                    change = scanline.advance(content, y);
                }
                let count = (change.min(last) - y) as u16;
                for (sums, line) in sums.iter_mut().zip(&scanline.line) {
                    for (sum, &byte) in sums.iter_mut().zip(line) {
                        *sum += count * u16::from(byte);
                    }
                }
                y += i32::from(count);
            }
            if y >= change {
                change = scanline.advance(content, y);
            }
            y += 1;
            let (tail, lead) = (tap.tail as u16, (0x4000 - tap.tail) as u16);
            let start = row * canvas.stride;
            for (plane, (sums, line)) in canvas.planes.iter_mut().zip(sums.iter_mut().zip(&scanline.line)) {
                let cells = &mut plane[start..][..line.len()];
                for (cell, (sum, &byte)) in cells.iter_mut().zip(sums.iter_mut().zip(line)) {
                    let scaled = 4 * u16::from(byte);
                    *cell = high(*sum + high(scaled, tail), rows.reciprocal as u16) as u8;
                    *sum = high(scaled, lead);
                }
            }
        }
    }

    /// The panel's last picture, if it stands alone on black.
    #[inline(always)]
    fn known_picture(&self, scene: &Scene, items: &[Item], place: &Place, columns: &Axis) -> Option<Known> {
        let item = items.iter().rposition(|item| matches!(item.shape, Shape::Bitmap { .. }))?;
        let Shape::Bitmap { min, size, greys } = &items[item].shape else { return None };
        let reach = self.scanline.reach(columns, min.x, min.x + size.width as i32 - 1)?;
        if !is_alone(items, item, columns, &reach) {
            return None;
        }
        let slot = self.memo.slot(scene.greys(greys), *min, reach.len() * place.rows.len())?;
        let is_kept = self.memo.holds(slot, scene.greys(greys), *min, *size);
        Some(Known { item, slot, is_kept, columns: reach })
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

/// The upper half of a product: SSE2's `mulhi_epu16`.
#[inline(always)]
const fn high(a: u16, b: u16) -> u16 {
    ((a as u32 * b as u32) >> 16) as u16
}
