//! Exact areas: how much of every cell a layer of polygons covers, and with what colour, from its edges
//! alone.
//!
//! 1. An edge adds, to each column it crosses, the area below it. Summed down a column, an upper edge opens
//!    the polygon and the lower one closes it: nothing but edges is ever walked (the signed-area accumulation
//!    of font rasterisers, with columns in place of rows, so that rows of output are rows of memory).
//! 2. A cell carries its ink times area, so polygons that meet in a cell share it by area. Where a layer
//!    overlaps itself the areas pass one, and their mean colour is taken.
//! 3. Blocks of cells without an edge are what the block above is: they are copied or skipped.

use super::canvas::{BLOCK, Canvas};
use crate::Size;
use std::ops::Range;

/// What one unit of area adds to a cell: coverage alone, coverage and grey, or coverage, red, green and blue.
pub(super) type Ink<const PARTS: usize> = [f32; PARTS];

/// Parts of the ink of a layer whose polygons all have one colour.
pub(super) const PLAIN: usize = 1;

/// Parts of the ink of a layer of greys.
pub(super) const GREY: usize = 2;

/// Parts of the ink of any other layer.
pub(super) const COLOURED: usize = 4;

/// Areas below this are the rounding of sums that should be zero.
const NOTHING: f32 = 1e-3;

/// One part of the ink in a block's cells.
type Cells = [f32; BLOCK];

/// One layer's edges over a grid of cells.
#[derive(Clone, Debug)]
pub(super) struct Coverage {
    width: usize,
    height: usize,
    /// Rows to a column of blocks; two more than are seen, for areas that end there.
    rows: usize,
    /// What changes at each cell against the cell above, block column by block column, in a block part by
    /// part. As dense as the layer's parts allow: all of it is to stay in the nearest cache.
    blocks: Vec<Cells>,
    /// Whether an edge changed the block.
    touched: Vec<bool>,
    /// The rows of each block column that edges may have changed.
    reach: Vec<Range<usize>>,
    /// Edges on their way into the blocks, left end first and inside the canvas.
    segments: Vec<Segment>,
}

/// A piece of an edge.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: [f32; 2],
    to: [f32; 2],
    slope: f32,
    ink: Ink<COLOURED>,
}

/// No rows yet: any others are earlier and later.
const NOWHERE: Range<usize> = Range { start: usize::MAX, end: 0 };

impl Coverage {
    /// No edges yet, for a canvas of `width` by `height` cells.
    pub fn new(Size { width, height }: Size) -> Self {
        let rows = height + 2;
        let columns = width.div_ceil(BLOCK);
        Self {
            width,
            height,
            rows,
            blocks: vec![[0.0; BLOCK]; COLOURED * columns * rows],
            touched: vec![false; columns * rows],
            reach: vec![NOWHERE; columns],
            segments: Vec::new(),
        }
    }

    /// Adds an edge in cells: what lies below it gains `ink`, or loses it if the edge runs to the left.
    #[inline(always)]
    pub fn edge(&mut self, from: [f32; 2], to: [f32; 2], ink: Ink<COLOURED>) {
        let (from, to, ink) =
            if from[0] <= to[0] { (from, to, ink) } else { (to, from, ink.map(|part| -part)) };
        let bottom = self.height as f32;
        let (left, right) = (from[0].max(0.0), to[0].min(self.width as f32));
        if left >= right || from[1].min(to[1]) >= bottom || ink == [0.0; COLOURED] {
            return;
        }
        let slope = (to[1] - from[1]) / (to[0] - from[0]);
        let at = |x: f32| from[1] + (x - from[0]) * slope;
        let (start, end) = (at(left), at(right));
        if start.min(end) >= 0.0 && start.max(end) <= bottom {
            let segment = Segment { from: [left, start], to: [right, end], slope, ink };
            return self.segments.push(segment);
        }
        self.cut([left, start], [right, end], slope, ink);
    }

    /// An edge that leaves the canvas above or below: what is above counts as its upper border, what is below
    /// has no effect.
    #[inline(always)]
    fn cut(&mut self, from: [f32; 2], to: [f32; 2], slope: f32, ink: Ink<COLOURED>) {
        let bottom = self.height as f32;
        let (mut left, mut right) = (from[0], to[0]);
        let across = |y: f32| (from[0] + (y - from[1]) / slope).clamp(from[0], to[0]);
        if from[1] < 0.0 || to[1] < 0.0 {
            let (start, end) = if from[1] < 0.0 && to[1] < 0.0 {
                (left, right)
            } else if from[1] < 0.0 {
                (left, across(0.0))
            } else {
                (across(0.0), right)
            };
            self.segments.push(Segment { from: [start, 0.0], to: [end, 0.0], slope: 0.0, ink });
            (left, right) = if from[1] < 0.0 { (end, right) } else { (left, start) };
        }
        if from[1] > bottom {
            left = across(bottom);
        }
        if to[1] > bottom {
            right = across(bottom);
        }
        if left < right {
            let inside = |x: f32| [x, (from[1] + (x - from[0]) * slope).clamp(0.0, bottom)];
            self.segments.push(Segment { from: inside(left), to: inside(right), slope, ink });
        }
    }

    /// An edge inside the canvas, column by column.
    #[inline(always)]
    fn run<const PARTS: usize>(&mut self, Segment { from, to, slope, ink }: Segment) {
        let ([mut x, mut y], [right, end]) = (from, to);
        let ink: Ink<PARTS> = std::array::from_fn(|part| ink[part]);
        let (highest, lowest) = if y < end { (y, end) } else { (end, y) };
        let (mut column, mut row) = (x as i32 as usize, y as i32 as usize);
        let last_row = end as i32 as usize;
        let rows = row.min(last_row)..row.max(last_row) + 2;
        let last_block = (right as i32 as usize / BLOCK).min(self.reach.len() - 1);
        for reach in &mut self.reach[column / BLOCK..=last_block] {
            *reach = reach.start.min(rows.start)..reach.end.max(rows.end);
        }
        while x < right {
            let border = (column + 1) as f32;
            let is_last = border >= right;
            let next = if is_last { right } else { border };
            let on_edge = y + (next - x) * slope;
            let below = if is_last {
                end
            } else if on_edge < highest {
                highest
            } else if on_edge > lowest {
                lowest
            } else {
                on_edge
            };
            let row_below = below as i32 as usize;
            if row == row_below {
                self.flat(column, row, 0.5 * (y + below) - row as f32, ink.map(|part| part * (next - x)));
            } else {
                let (rows, heights) = if row < row_below {
                    ([row, row_below], [y, below])
                } else {
                    ([row_below, row], [below, y])
                };
                let width = (next - x) / (heights[1] - heights[0]);
                self.steep(column, rows, heights, ink.map(|part| part * width));
            }
            (x, y, row) = (next, below, row_below);
            column += 1;
        }
    }

    /// A piece of an edge within one cell; `lower` is how deep in the cell its middle lies.
    #[inline(always)]
    fn flat<const PARTS: usize>(&mut self, column: usize, row: usize, lower: f32, ink: Ink<PARTS>) {
        let (at, lane) = (column / BLOCK * self.rows + row, column % BLOCK);
        let blocks = &mut self.blocks[at * PARTS..(at + 2) * PARTS];
        add(blocks, 0, lane, ink, 1.0 - lower);
        add(blocks, 1, lane, ink, lower);
        self.touched[at..at + 2].fill(true);
    }

    /// A piece of an edge within one column, over several rows; `ink` is what it adds in each whole row.
    #[inline(always)]
    fn steep<const PARTS: usize>(
        &mut self,
        column: usize,
        [first, last]: [usize; 2],
        [top, bottom]: [f32; 2],
        ink: Ink<PARTS>,
    ) {
        let (at, lane) = (column / BLOCK * self.rows + first, column % BLOCK);
        let count = last - first;
        let blocks = &mut self.blocks[at * PARTS..(at + count + 2) * PARTS];
        let touched = &mut self.touched[at..at + count + 2];
        let height = (first + 1) as f32 - top;
        add(blocks, 0, lane, ink, 0.5 * height * height);
        touched[0] = true;
        let mut carried = height * (1.0 - 0.5 * height);
        for (row, touched) in touched.iter_mut().enumerate().take(count).skip(1) {
            add(blocks, row, lane, ink, carried + 0.5);
            *touched = true;
            carried = 0.5;
        }
        let height = bottom - last as f32;
        add(blocks, count, lane, ink, carried + height * (1.0 - 0.5 * height));
        add(blocks, count + 1, lane, ink, 0.5 * height * height);
        (touched[count], touched[count + 1]) = (true, true);
    }

    /// Lays the layer over the canvas and forgets its edges. `plain` is the colour of a layer of one colour.
    #[inline(always)]
    pub fn sweep<const PARTS: usize>(&mut self, canvas: &mut Canvas, plain: [f32; 3]) {
        for index in 0..self.segments.len() {
            self.run::<PARTS>(self.segments[index]);
        }
        self.segments.clear();
        for (block, reach) in self.reach.iter_mut().enumerate() {
            let rows = std::mem::replace(reach, NOWHERE);
            let mut sums = [[0.0; BLOCK]; COLOURED];
            let mut state = State::Empty;
            let blocks = &mut self.blocks[block * self.rows * PARTS..][..self.rows * PARTS];
            let touched = &mut self.touched[block * self.rows..][..self.rows];
            for row in rows.start.min(self.rows)..self.rows {
                if row >= rows.end && state == State::Empty {
                    break;
                }
                let is_changed = std::mem::take(&mut touched[row]);
                if is_changed {
                    take::<PARTS>(&mut blocks[row * PARTS..][..PARTS], &mut sums, plain);
                    state = State::of(&sums[0]);
                }
                match state {
                    State::Empty => sums = [[0.0; BLOCK]; COLOURED],
                    _ if row >= self.height => {}
                    State::Full if !is_changed => canvas.repeat(row, block),
                    _ => canvas.mix(row, block, &sums),
                }
            }
        }
    }
}

/// Adds what changes at a block to the sums of the blocks above, and forgets it.
#[inline(always)]
fn take<const PARTS: usize>(cells: &mut [Cells], sums: &mut [Cells; COLOURED], plain: [f32; 3]) {
    for part in 0..PARTS {
        for lane in 0..BLOCK {
            sums[part][lane] += cells[part][lane];
        }
        cells[part] = [0.0; BLOCK];
    }
    if PARTS == PLAIN {
        let [cover, inks @ ..] = sums;
        for (ink, plain) in inks.iter_mut().zip(plain) {
            *ink = cover.map(|cover| cover * plain);
        }
    }
    if PARTS == GREY {
        (sums[2], sums[3]) = (sums[1], sums[1]);
    }
}

#[inline(always)]
fn add<const PARTS: usize>(blocks: &mut [Cells], row: usize, lane: usize, ink: Ink<PARTS>, share: f32) {
    for (cells, part) in blocks[row * PARTS..][..PARTS].iter_mut().zip(ink) {
        cells[lane] += part * share;
    }
}

/// How much of a block a layer covers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Empty,
    Mixed,
    Full,
}

impl State {
    #[inline(always)]
    fn of(coverage: &[f32; BLOCK]) -> Self {
        let (mut some, mut all) = (false, true);
        for &cover in coverage {
            some |= cover > NOTHING;
            all &= cover > 1.0 - NOTHING;
        }
        if all {
            Self::Full
        } else if some {
            Self::Mixed
        } else {
            Self::Empty
        }
    }
}
