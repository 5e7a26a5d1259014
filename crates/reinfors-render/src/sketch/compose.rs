//! Layers of areas laid over the canvas, all at once: a cell is mixed in single precision and becomes bytes
//! once.
//!
//! Down one column of blocks after the other, so that what the edges above amount to stays in registers. On
//! one ground, a block without an edge is what the block above is.

use super::blocks::{BLOCK, rounded};
use super::coverage::{COLOURED, Cells, Coverage, GREY, Layer, PLAIN, WORD};
use crate::canvas::Canvas;
use reinfors_math::cpu::{Kernel, Level};
use std::slice::ChunksExactMut;

/// Parts of a layer that is not there.
const ABSENT: usize = 0;

impl Coverage {
    /// Lays the layers over the ground, which has one colour until it is drawn, or else over what the canvas
    /// shows, and forgets them.
    pub fn compose(&mut self, level: Level, ground: &mut Option<[f32; 3]>, canvas: &mut Canvas) {
        if let Some(ground) = ground.take() {
            level.run(Compose::<true> { coverage: self, ground, canvas });
        } else if self.count > 0 {
            level.run(Compose::<false> { coverage: self, ground: [0.0; 3], canvas });
        }
        self.count = 0;
    }
}

/// Layers over a ground of one colour, or over the canvas.
struct Compose<'a, 'b, const IS_GROUND: bool> {
    coverage: &'a mut Coverage,
    ground: [f32; 3],
    canvas: &'a mut Canvas<'b>,
}

impl<const IS_GROUND: bool> Kernel for Compose<'_, '_, IS_GROUND> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { coverage, ground, canvas } = self;
        let Coverage { columns, rows, height, layers: [lower, upper], .. } = coverage;
        let (rows, height, ground) = (*rows, *height, splat(ground));
        for block in 0..*columns {
            let mut column = Column::<IS_GROUND> { block, rows, height, ground, canvas };
            // A layer that lies alone is the upper one.
            let (lower_parts, upper_parts) = (lower.parts_at(block, rows), upper.parts_at(block, rows));
            match (lower_parts, upper_parts) {
                (_, ABSENT) => column.lay_on::<ABSENT>(upper, lower, lower_parts),
                (ABSENT, _) => column.lay_on::<ABSENT>(lower, upper, upper_parts),
                (PLAIN, _) => column.lay_on::<PLAIN>(lower, upper, upper_parts),
                (GREY, _) => column.lay_on::<GREY>(lower, upper, upper_parts),
                _ => column.lay_on::<COLOURED>(lower, upper, upper_parts),
            }
        }
    }
}

/// A column of blocks of the canvas, in which one colour is below the layers, or what the canvas shows.
struct Column<'a, 'b, const IS_GROUND: bool> {
    block: usize,
    rows: usize,
    /// Rows that are seen.
    height: usize,
    ground: [Cells; 3],
    canvas: &'a mut Canvas<'b>,
}

impl<const IS_GROUND: bool> Column<'_, '_, IS_GROUND> {
    /// Lays the upper layer, which consists of so many parts, over the lower one.
    #[inline(always)]
    fn lay_on<const LOWER: usize>(&mut self, lower: &mut Layer, upper: &mut Layer, parts: usize) {
        match parts {
            ABSENT if !IS_GROUND => {}
            ABSENT => self.lay::<LOWER, ABSENT>(lower, upper),
            PLAIN => self.lay::<LOWER, PLAIN>(lower, upper),
            GREY => self.lay::<LOWER, GREY>(lower, upper),
            _ => self.lay::<LOWER, COLOURED>(lower, upper),
        }
    }

    #[inline(always)]
    fn lay<const LOWER: usize, const UPPER: usize>(&mut self, lower: &mut Layer, upper: &mut Layer) {
        let &mut Self { block, rows, height, ground, .. } = self;
        let (mut below, mut above) = (Sheet::<LOWER>::new(lower), Sheet::<UPPER>::new(upper));
        let mut lower = Edges::<LOWER>::of(lower, block, rows);
        let mut upper = Edges::<UPPER>::of(upper, block, rows);
        let mut strip = self.canvas.strip(block);
        let mut shown = bytes(&ground);
        let mut is_clear = !IS_GROUND;
        for word in 0..rows.div_ceil(WORD) {
            let mut marks = lower.take_marks(word) | upper.take_marks(word);
            let (mut row, end) = (word * WORD, ((word + 1) * WORD).min(height));
            while row < end {
                let alike = (marks.trailing_zeros() as usize).min(end - row);
                if IS_GROUND {
                    strip.fill(alike, &shown);
                } else if is_clear {
                    strip.skip(alike);
                } else {
                    for _ in 0..alike {
                        strip.store(&bytes(&above.over(below.over(strip.load().map(Cells)))));
                    }
                }
                row += alike;
                marks = marks.checked_shr(alike as u32).unwrap_or(0);
                let changed = (marks.trailing_ones() as usize).min(end - row);
                let (mut lower, mut upper) = (lower.rows(row, changed), upper.rows(row, changed));
                for _ in 0..changed {
                    below.take(&mut lower);
                    above.take(&mut upper);
                    is_clear = !IS_GROUND && below.is_clear() && above.is_clear();
                    if is_clear {
                        strip.skip(1);
                    } else {
                        let ground = if IS_GROUND { ground } else { strip.load().map(Cells) };
                        shown = bytes(&above.over(below.over(ground)));
                        strip.store(&shown);
                    }
                }
                row += changed;
                marks = marks.checked_shr(changed as u32).unwrap_or(0);
            }
        }
        // Edges end at most one row below the last one that is seen.
        let unseen = (height + 2).min(rows) - height;
        lower.rows(height, unseen).for_each(clear);
        upper.rows(height, unseen).for_each(clear);
    }
}

/// What edges change in a column of blocks, in a layer of so many parts.
struct Edges<'a, const PARTS: usize> {
    changes: &'a mut [Cells],
    marks: &'a mut [u64],
}

impl<'a, const PARTS: usize> Edges<'a, PARTS> {
    #[inline(always)]
    fn of(layer: &'a mut Layer, block: usize, rows: usize) -> Self {
        let words = rows.div_ceil(WORD);
        Self {
            changes: &mut layer.blocks[block * rows * PARTS..][..rows * PARTS],
            marks: &mut layer.touched[block * words..][..words],
        }
    }

    /// Which rows of a word are changed, from now on none.
    #[inline(always)]
    fn take_marks(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.marks[word])
    }

    /// The changes at so many rows from one on; nothing if the layer is not there.
    #[inline(always)]
    fn rows(&mut self, row: usize, count: usize) -> ChunksExactMut<'_, Cells> {
        self.changes[row * PARTS..(row + count) * PARTS].chunks_exact_mut(if PARTS == ABSENT {
            1
        } else {
            PARTS
        })
    }
}

/// A layer in a column of blocks, with what the edges so far amount to: coverage, red, green and blue.
struct Sheet<const PARTS: usize> {
    plain: [f32; 3],
    sums: [Cells; PARTS],
}

impl<const PARTS: usize> Sheet<PARTS> {
    #[inline(always)]
    fn new(layer: &Layer) -> Self {
        Self { plain: layer.plain, sums: [Cells::default(); PARTS] }
    }

    /// Adds what changes at the next row to the sums of the rows above, and forgets it.
    #[inline(always)]
    fn take(&mut self, changes: &mut ChunksExactMut<Cells>) {
        let Some(changes) = changes.next() else { return };
        for (sum, change) in self.sums.iter_mut().zip(changes) {
            *sum = added(*sum, std::mem::take(change));
        }
    }

    /// Whether what is below shows as if nothing covered it.
    #[inline(always)]
    fn is_clear(&self) -> bool {
        /// The areas of a polygon's edges cancel out but for rounding.
        const LEAST: f32 = 1e-4;
        let mut is_clear = true;
        if PARTS != ABSENT {
            for lane in 0..BLOCK {
                is_clear &= self.sums[0].0[lane].abs() < LEAST;
            }
        }
        is_clear
    }

    /// What is below, under what covers it: the mean ink where areas overlap.
    #[inline(always)]
    fn over(&self, [red, green, blue]: [Cells; 3]) -> [Cells; 3] {
        if PARTS == ABSENT {
            return [red, green, blue];
        }
        let (mut keep, mut share) = (Cells::default(), Cells::default());
        for lane in 0..BLOCK {
            let cover = self.sums[0].0[lane];
            keep.0[lane] = if cover < 1.0 { 1.0 - cover } else { 0.0 };
            share.0[lane] = 1.0 / if cover > 1.0 { cover } else { 1.0 };
        }
        if PARTS == PLAIN {
            let [plain_red, plain_green, plain_blue] = self.plain;
            return [
                tinted(red, &keep, plain_red),
                tinted(green, &keep, plain_green),
                tinted(blue, &keep, plain_blue),
            ];
        }
        // A grey layer has one ink for all channels.
        let [first, second, third] = if PARTS == GREY { [1; 3] } else { [1, 2, 3] };
        [
            mixed(red, &keep, &self.sums[first], &share),
            mixed(green, &keep, &self.sums[second], &share),
            mixed(blue, &keep, &self.sums[third], &share),
        ]
    }
}

impl Layer {
    /// The parts that edges have changed in a column of blocks.
    #[inline(always)]
    fn parts_at(&self, block: usize, rows: usize) -> usize {
        let words = rows.div_ceil(WORD);
        let mut marks = 0;
        for &word in &self.touched[block * words..][..words] {
            marks |= word;
        }
        if marks == 0 { ABSENT } else { self.parts }
    }
}

#[inline(always)]
fn clear(changes: &mut [Cells]) {
    changes.fill(Cells::default());
}

#[inline(always)]
fn added(mut sum: Cells, change: Cells) -> Cells {
    for lane in 0..BLOCK {
        sum.0[lane] += change.0[lane];
    }
    sum
}

/// A channel under one colour.
#[inline(always)]
fn tinted(mut below: Cells, keep: &Cells, plain: f32) -> Cells {
    for lane in 0..BLOCK {
        below.0[lane] = plain + (below.0[lane] - plain) * keep.0[lane];
    }
    below
}

/// A channel under ink that is times its area.
#[inline(always)]
fn mixed(mut below: Cells, keep: &Cells, ink: &Cells, share: &Cells) -> Cells {
    for lane in 0..BLOCK {
        below.0[lane] = below.0[lane] * keep.0[lane] + ink.0[lane] * share.0[lane];
    }
    below
}

#[inline(always)]
fn bytes(colours: &[Cells; 3]) -> [[u8; BLOCK]; 3] {
    let mut bytes = [[0; BLOCK]; 3];
    for (bytes, Cells(colours)) in bytes.iter_mut().zip(colours) {
        let integers = rounded(*colours);
        for lane in 0..BLOCK {
            bytes[lane] = integers[lane] as u8;
        }
    }
    bytes
}

#[inline(always)]
fn splat([red, green, blue]: [f32; 3]) -> [Cells; 3] {
    [Cells([red; BLOCK]), Cells([green; BLOCK]), Cells([blue; BLOCK])]
}
