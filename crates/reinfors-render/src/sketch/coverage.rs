//! Exact areas: how much of every cell a layer of polygons covers, and with what colour, from its edges
//! alone.
//!
//! 1. An edge adds, to each column it crosses, the area below it. Summed down a column, an upper edge opens
//!    the polygon and the lower one closes it: nothing but edges is ever walked (the signed-area accumulation
//!    of font rasterisers, with columns in place of rows, so that rows of output are rows of memory).
//! 2. The eight columns of a block are lanes: the area below a straight edge in one row of a column is a
//!    difference of two parabolas, without a branch.
//! 3. A cell carries its ink times area, so polygons that meet in a cell share it by area. Where a layer
//!    overlaps itself the areas pass one, and their mean colour is taken.
//! 4. Layers are kept apart until all of them are laid over what is below at once (`compose`).

use super::blocks::BLOCK;
use crate::Size;
use reinfors_math::cpu::{Kernel, Level};
use std::ops::Range;

/// What one unit of area adds to a cell: coverage alone, coverage and grey, or coverage, red, green and blue.
pub(super) type Ink<const PARTS: usize> = [f32; PARTS];

/// Parts of the ink of a layer whose polygons all have one colour.
pub(super) const PLAIN: usize = 1;

/// Parts of the ink of a layer of greys.
pub(super) const GREY: usize = 2;

/// Parts of the ink of any other layer.
pub(super) const COLOURED: usize = 4;

/// Layers that are laid over what is below at once.
pub(super) const LAYERS: usize = 2;

/// Edges and corners handled together.
pub(super) const LANES: usize = 8;

/// A number for each of them.
pub(super) type Lane = [f32; LANES];

/// One number for each cell of a block, aligned as vectors are.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Cells(pub [f32; BLOCK]);

/// The edges of a few layers over a grid of cells.
#[derive(Clone, Debug)]
pub(super) struct Coverage {
    pub columns: usize,
    /// Rows to a column of blocks; two more than are seen, for areas that end there.
    pub rows: usize,
    /// Rows that are seen in this frame.
    pub height: usize,
    width: f32,
    /// Layers so far, each with what its cells consist of.
    pub layers: [Layer; LAYERS],
    pub count: usize,
    /// Edges on their way into the blocks, left end first and inside the canvas.
    segments: Vec<Segment>,
}

/// What changes at each cell against the cell above.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    /// Parts to a cell.
    pub parts: usize,
    /// The colour of a [`PLAIN`] layer.
    pub plain: [f32; 3],
    /// Block column by block column, in a block part by part. As dense as the parts allow: all of it is to
    /// stay in the nearest cache.
    pub blocks: Vec<Cells>,
    /// Which rows of each column of blocks edges have changed: words of a bit to each row.
    pub touched: Vec<u64>,
}

/// Rows to a word.
pub(super) const WORD: usize = u64::BITS as usize;

/// From surface pixels to cells, upside down or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub scale: [f32; 2],
    /// The surface's height if its rows are to be reversed.
    pub flipped: Option<f32>,
}

/// Edges in surface pixels, in lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    blocks: Vec<Block>,
    len: usize,
}

/// Edges side by side.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Block {
    from: [Lane; 2],
    to: [Lane; 2],
    /// What lies below each gains it, or loses it if the edge runs to the left.
    inks: [Ink<COLOURED>; LANES],
}

/// The edges of a block in cells, the left end first.
struct Directed {
    from: [Lane; 2],
    to: [Lane; 2],
    slopes: Lane,
    /// -1 for an edge that ran to the left.
    signs: Lane,
    /// The cells that both ends lie in.
    from_cells: [[i32; LANES]; 2],
    to_cells: [[i32; LANES]; 2],
    /// Whether each is somewhere above the canvas's foot, and whether it lies within it: not 0.
    seen: [i32; LANES],
    inside: [i32; LANES],
}

impl Lines {
    /// No edges, and room for so many.
    pub fn restart(&mut self, most: usize) {
        self.len = 0;
        let blocks = most.div_ceil(LANES);
        if self.blocks.len() < blocks {
            self.blocks.resize(blocks, Block::default());
        }
    }

    #[inline(always)]
    pub fn push(&mut self, [from, to]: [[f32; 2]; 2], ink: Ink<COLOURED>) {
        let (block, lane) = (&mut self.blocks[self.len / LANES], self.len % LANES);
        for axis in 0..2 {
            block.from[axis][lane] = from[axis];
            block.to[axis][lane] = to[axis];
        }
        block.inks[lane] = ink;
        self.len += 1;
    }

    /// Whether the next lines start half a block.
    #[inline(always)]
    pub fn is_at_half(&self) -> bool {
        self.len.is_multiple_of(LANES / 2)
    }

    /// Adds half a block of edges of one ink.
    #[inline(always)]
    pub fn push_four(&mut self, [from, to]: [[[f32; LANES / 2]; 2]; 2], ink: Ink<COLOURED>) {
        let (block, half) = (&mut self.blocks[self.len / LANES], self.len / (LANES / 2) % 2);
        for axis in 0..2 {
            block.from[axis].as_chunks_mut().0[half] = from[axis];
            block.to[axis].as_chunks_mut().0[half] = to[axis];
        }
        block.inks.as_chunks_mut().0[half] = [ink; LANES / 2];
        self.len += LANES / 2;
    }
}

impl Block {
    /// Puts all edges on the grid, turns them to the right and cuts them off at the sides of a canvas.
    #[inline(always)]
    fn directed(&self, grid: Grid, [width, bottom]: [f32; 2]) -> Directed {
        let (mut from, mut to) = ([[0.0; LANES]; 2], [[0.0; LANES]; 2]);
        let (mut slopes, mut signs) = ([0.0; LANES], [0.0; LANES]);
        let [across, along] = grid.scale;
        let (origin, down) = if let Some(height) = grid.flipped { (height, -1.0) } else { (0.0, 1.0) };
        for lane in 0..LANES {
            let (x, y) = (self.from[0][lane], origin + down * self.from[1][lane]);
            let (far_x, far_y) = (self.to[0][lane], origin + down * self.to[1][lane]);
            let (a, b) = ([x * across, y * along], [far_x * across, far_y * along]);
            let runs_right = a[0] <= b[0];
            let (x, y) = if runs_right { (a[0], a[1]) } else { (b[0], b[1]) };
            let (far_x, far_y) = if runs_right { (b[0], b[1]) } else { (a[0], a[1]) };
            let left = if x > 0.0 { x } else { 0.0 };
            let right = if far_x < width { far_x } else { width };
            let slope = (far_y - y) / (far_x - x);
            (from[0][lane], to[0][lane]) = (left, right);
            (from[1][lane], to[1][lane]) = (y + (left - x) * slope, y + (right - x) * slope);
            (slopes[lane], signs[lane]) = (slope, if runs_right { 1.0 } else { -1.0 });
        }
        let (mut from_cells, mut to_cells) = ([[0; LANES]; 2], [[0; LANES]; 2]);
        for axis in 0..2 {
            for lane in 0..LANES {
                from_cells[axis][lane] = whole(from[axis][lane]);
                to_cells[axis][lane] = whole(to[axis][lane]);
            }
        }
        let (mut seen, mut inside) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let (start, end) = (from[1][lane], to[1][lane]);
            let is_wide = from[0][lane] < to[0][lane];
            seen[lane] = i32::from(is_wide & ((start < bottom) | (end < bottom)));
            inside[lane] = i32::from((start >= 0.0) & (end >= 0.0) & (start <= bottom) & (end <= bottom));
        }
        Directed { from, to, slopes, signs, from_cells, to_cells, seen, inside }
    }
}

/// A piece of an edge.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: [f32; 2],
    to: [f32; 2],
    /// The cells that both ends lie in.
    from_cell: [i32; 2],
    to_cell: [i32; 2],
    slope: f32,
    ink: Ink<COLOURED>,
}

impl Segment {
    #[inline(always)]
    fn new(from: [f32; 2], to: [f32; 2], slope: f32, ink: Ink<COLOURED>) -> Self {
        let [[x, y], [far_x, far_y]] = [from, to];
        let (from_cell, to_cell) = ([whole(x), whole(y)], [whole(far_x), whole(far_y)]);
        Self { from, to, from_cell, to_cell, slope, ink }
    }
}

/// The whole part of a number from 0 to 2^22. A cast does not vectorise; adding 2^23 leaves the nearest integer
/// in the low bits.
#[inline(always)]
fn whole(number: f32) -> i32 {
    const INTEGERS: f32 = 8_388_608.0;
    let nearest = number + INTEGERS;
    let integer = (nearest.to_bits() as i32).wrapping_sub(INTEGERS.to_bits() as i32);
    integer.wrapping_sub(i32::from(nearest - INTEGERS > number))
}

/// Left border of each column of a block.
const BORDERS: [f32; BLOCK] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Edges that rise by less than this in a column are level.
const LEVEL: f32 = 1e-9;

impl Coverage {
    /// No edges yet, for a canvas of `size` cells.
    pub fn new(size: Size) -> Self {
        let rows = size.height + 2;
        let columns = size.width.div_ceil(BLOCK);
        let layer = Layer {
            parts: PLAIN,
            plain: [0.0; 3],
            blocks: vec![Cells::default(); COLOURED * columns * rows],
            touched: vec![0; columns * rows.div_ceil(WORD)],
        };
        Self {
            columns,
            rows,
            height: size.height,
            width: size.width as f32,
            layers: std::array::from_fn(|_| layer.clone()),
            count: 0,
            segments: Vec::new(),
        }
    }

    /// Adds the edges of a few polygons.
    #[inline(always)]
    pub fn add(&mut self, lines: &Lines, grid: Grid) {
        let bottom = self.height as f32;
        for (number, block) in lines.blocks[..lines.len.div_ceil(LANES)].iter().enumerate() {
            let directed = block.directed(grid, [self.width, bottom]);
            for lane in 0..(lines.len - number * LANES).min(LANES) {
                if directed.seen[lane] == 0 {
                    continue;
                }
                let from = [directed.from[0][lane], directed.from[1][lane]];
                let to = [directed.to[0][lane], directed.to[1][lane]];
                let (sign, slope) = (directed.signs[lane], directed.slopes[lane]);
                let mut ink = block.inks[lane];
                for part in &mut ink {
                    *part *= sign;
                }
                if directed.inside[lane] == 0 {
                    self.cut(from, to, slope, ink);
                } else {
                    let from_cell = [directed.from_cells[0][lane], directed.from_cells[1][lane]];
                    let to_cell = [directed.to_cells[0][lane], directed.to_cells[1][lane]];
                    self.segments.push(Segment { from, to, from_cell, to_cell, slope, ink });
                }
            }
        }
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
            // An edge that leaves at the right border itself has no column there.
            if start < end {
                self.segments.push(Segment::new([start, 0.0], [end, 0.0], 0.0, ink));
            }
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
            self.segments.push(Segment::new(inside(left), inside(right), slope, ink));
        }
    }

    /// Makes the edges added since the last call a layer above the others.
    pub fn close_layer<const PARTS: usize>(&mut self, level: Level, plain: [f32; 3]) {
        let Self { layers, count, segments, rows, columns, .. } = self;
        let layer = &mut layers[*count];
        (layer.parts, layer.plain) = (PARTS, plain);
        level.run(Fill::<PARTS> { layer, segments, rows: *rows, columns: *columns });
        segments.clear();
        *count += 1;
    }
}

/// The areas below edges.
struct Fill<'a, const PARTS: usize> {
    layer: &'a mut Layer,
    segments: &'a [Segment],
    rows: usize,
    columns: usize,
}

impl<const PARTS: usize> Kernel for Fill<'_, PARTS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for segment in self.segments {
            self.layer.run::<PARTS>(segment, self.rows, self.columns);
        }
    }
}

impl Layer {
    /// An edge inside the canvas, block by block.
    #[inline(always)]
    fn run<const PARTS: usize>(&mut self, segment: &Segment, rows: usize, columns: usize) {
        let &Segment { from: [left, start], to: [right, end], slope, ink, .. } = segment;
        let ([column, row], [last_column, last_row]) = (segment.from_cell, segment.to_cell);
        let mut inks = [0.0; PARTS];
        inks.copy_from_slice(&ink[..PARTS]);
        if right <= (column + 1) as f32 && row == last_row {
            let (lower, at) = (0.5 * (start + end) - row as f32, [column as usize, row as usize]);
            return self.within_cell(rows, at, lower, inks.map(|ink| ink * (right - left)));
        }
        let (highest, lowest) = if start < end { (start, end) } else { (end, start) };
        let bounded = |y: f32| {
            let y = if y > highest { y } else { highest };
            if y < lowest { y } else { lowest }
        };
        let last_block = (last_column as usize / BLOCK).min(columns - 1);
        let mut near_row = row;
        for block in column as usize / BLOCK..=last_block {
            let first = (block * BLOCK) as i32 as f32;
            let border = first + BLOCK as f32;
            // Its row at the border of the block, which is its end in the last one.
            let far_row =
                if block == last_block { last_row } else { whole(bounded(start + (border - left) * slope)) };
            let (top, bottom) = (near_row.min(far_row) as usize, near_row.max(far_row) as usize);
            near_row = far_row;
            let (mut tops, mut heights, mut halves, mut widths) =
                ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
            for lane in 0..BLOCK {
                let border = first + BORDERS[lane];
                let near = if border > left { border } else { left };
                let far = if border + 1.0 < right { border + 1.0 } else { right };
                let (a, b) = (bounded(start + (near - left) * slope), bounded(start + (far - left) * slope));
                let (top, bottom) = if a < b { (a, b) } else { (b, a) };
                let height = bottom - top;
                (tops[lane], heights[lane]) = (top, height);
                halves[lane] = 0.5 / if height > LEVEL { height } else { LEVEL };
                widths[lane] = if far > near { far - near } else { 0.0 };
            }
            let piece = Piece { tops, heights, halves, widths };
            let span = top..bottom + 2;
            self.below::<PARTS>(&piece, block, rows, span, inks);
        }
    }

    /// Marks rows of a column of blocks as changed.
    #[inline(always)]
    fn touch(&mut self, block: usize, rows: usize, span: &Range<usize>) {
        let words = &mut self.touched[block * rows.div_ceil(WORD)..];
        let (first, last) = (span.start / WORD, (span.end - 1) / WORD);
        let (from, until) = (u64::MAX << (span.start % WORD), u64::MAX >> (WORD - 1 - (span.end - 1) % WORD));
        if first == last {
            words[first] |= from & until;
        } else {
            words[first] |= from;
            words[first + 1..last].fill(u64::MAX);
            words[last] |= until;
        }
    }

    /// A piece of an edge within one cell; `lower` is how deep in the cell its middle lies.
    #[inline(always)]
    fn within_cell<const PARTS: usize>(
        &mut self,
        rows: usize,
        [column, row]: [usize; 2],
        lower: f32,
        ink: Ink<PARTS>,
    ) {
        let (block, lane) = (column / BLOCK, column % BLOCK);
        let at = block * rows + row;
        let (here, next) = self.blocks[at * PARTS..(at + 2) * PARTS].split_at_mut(PARTS);
        for part in 0..PARTS {
            here[part].0[lane] += ink[part] * (1.0 - lower);
            next[part].0[lane] += ink[part] * lower;
        }
        self.touch(block, rows, &(row..row + 2));
    }

    /// The area below a piece of an edge. The last row of `span` is the one below it.
    #[inline(always)]
    fn below<const PARTS: usize>(
        &mut self,
        Piece { tops, heights, halves, widths }: &Piece,
        block: usize,
        rows: usize,
        span: Range<usize>,
        ink: Ink<PARTS>,
    ) {
        let mut y = span.start as i32 as f32;
        let (mut sum_above, mut area_above) = ([0.0; BLOCK], [0.0; BLOCK]);
        self.touch(block, rows, &span);
        let at = block * rows;
        let blocks = &mut self.blocks[(at + span.start) * PARTS..(at + span.end) * PARTS];
        for cells in blocks.chunks_exact_mut(PARTS) {
            y += 1.0;
            let mut change = [0.0; BLOCK];
            for lane in 0..BLOCK {
                let depth = y - tops[lane];
                let within = if depth > 0.0 { depth } else { 0.0 };
                let within = if within < heights[lane] { within } else { heights[lane] };
                let beyond = depth - heights[lane];
                let beyond = if beyond > 0.0 { beyond } else { 0.0 };
                let sum = within * within * halves[lane] + beyond;
                let area = sum - sum_above[lane];
                change[lane] = (area - area_above[lane]) * widths[lane];
                (sum_above[lane], area_above[lane]) = (sum, area);
            }
            for (cells, ink) in cells.iter_mut().zip(ink) {
                for (cell, change) in cells.0.iter_mut().zip(change) {
                    *cell += change * ink;
                }
            }
        }
    }
}

/// An edge in the columns of a block: where it is highest, by how much it rises, half of one over that, and
/// how much of the column it crosses.
struct Piece {
    tops: [f32; BLOCK],
    heights: [f32; BLOCK],
    halves: [f32; BLOCK],
    widths: [f32; BLOCK],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_leaves_through_a_corner_leaves_no_piece_of_no_width() {
        for (from, to) in
            [([40.0, 1.0], [48.0, -6e-8]), ([0.0, -6e-8], [8.0, 1.0]), ([40.0, -1.0], [48.0, 0.0])]
        {
            let mut coverage = Coverage::new(Size::new(48, 48));
            let slope = (to[1] - from[1]) / (to[0] - from[0]);
            coverage.cut(from, to, slope, [1.0; COLOURED]);
            assert!(!coverage.segments.is_empty());
            for segment in &coverage.segments {
                assert!(
                    segment.from[0] < segment.to[0],
                    "{segment:?}: one at the right border has no column"
                );
            }
        }
    }
}
