//! One scanline of a panel, at full width and shrunk, on its way down: only what changes is painted anew.

use crate::axis::Axis;
use crate::scene::{Item, Shape};
use crate::{Colour, Scene, filter};
use std::ops::Range;

/// What a panel shows: the background first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'a> {
    pub scene: &'a Scene,
    pub items: &'a [Item],
    /// An item to leave out.
    pub skipped: Option<usize>,
    pub columns: &'a Axis,
}

/// The scanline being looked at.
#[derive(Clone, Debug)]
pub(super) struct Scanline {
    /// Its pixels, as far as they reach the output.
    pixels: Vec<Colour>,
    /// The column that owns each pixel.
    owner: Vec<u16>,
    /// The shrunken scanline, channel by channel.
    pub line: [Vec<u8>; 3],
}

impl Content<'_> {
    #[inline(always)]
    fn shown(&self) -> impl Iterator<Item = &Item> {
        let skipped = self.skipped;
        self.items
            .iter()
            .enumerate()
            .filter_map(move |(index, item)| (Some(index) != skipped).then_some(item))
    }
}

impl Scanline {
    pub fn new(columns: &Axis) -> Self {
        let mut owner = Vec::new();
        for (column, tap) in columns.taps.iter().enumerate() {
            owner.resize(tap.start + tap.len, column as u16);
        }
        Self {
            pixels: vec![Colour::BLACK; owner.len()],
            owner,
            line: std::array::from_fn(|_| vec![0; columns.taps.len()]),
        }
    }

    /// The columns that pixels `left..=right` have a share in; none if they lie outside.
    #[inline(always)]
    pub fn reach(&self, columns: &Axis, left: i32, right: i32) -> Option<Range<usize>> {
        let (left, right) = (left.max(0), right.min(self.pixels.len() as i32 - 1));
        if right < left {
            return None;
        }
        let (left, right) = (left as usize, right as usize);
        let last = usize::from(self.owner[right]);
        let tap = &columns.taps[last];
        let is_shared = right + 1 == tap.start + tap.len;
        Some(usize::from(self.owner[left])..(last + 1 + usize::from(is_shared)).min(columns.taps.len()))
    }

    /// Columns outside of which a few rows are black: rounded so that vectors fill them.
    #[inline(always)]
    pub fn lit(&self, content: &Content, rows: Range<i32>) -> Range<usize> {
        const ROUND: usize = 16;
        let width = content.columns.taps.len();
        if content.items[0].colour != Colour::BLACK {
            return 0..width;
        }
        let mut lit = width..0;
        for item in content.shown().skip(1) {
            if item.rows.min < rows.end
                && item.rows.max >= rows.start
                && let Some((left, right)) = across(item)
                && let Some(reach) = self.reach(content.columns, left, right)
            {
                lit = lit.start.min(reach.start)..lit.end.max(reach.end);
            }
        }
        if lit.is_empty() {
            0..0
        } else {
            lit.start / ROUND * ROUND..lit.end.next_multiple_of(ROUND).min(width)
        }
    }

    /// Paints row `y`, whatever came before; tells the next row that may differ. The background must cover
    /// it.
    #[inline(always)]
    pub fn restart(&mut self, content: &Content, y: i32) -> i32 {
        let ground = content.items[0].colour;
        self.pixels.fill(ground);
        for (line, channel) in self.line.iter_mut().zip(ground.channels()) {
            if channel == 0 {
                line.fill(0);
            } else {
                (0..line.len()).for_each(|column| line[column] = content.columns.uniform(column, channel));
            }
        }
        let mut next = i32::MAX;
        for item in content.shown().skip(1) {
            let rows = item.rows.min..item.rows.max.saturating_add(1);
            if let (true, Some((left, right))) = (rows.contains(&y), across(item)) {
                self.repaint(content, left, right, y);
            }
            next = next.min(change(item, y));
        }
        next
    }

    /// Brings the scanline from row `y - 1` to row `y`; tells the next row that may differ.
    #[inline(always)]
    pub fn advance(&mut self, content: &Content, y: i32) -> i32 {
        let mut next = i32::MAX;
        for item in content.shown().skip(1) {
            let (first, end) = (item.rows.min, item.rows.max.saturating_add(1));
            let varies = matches!(item.shape, Shape::Bitmap { .. }) && (first..end).contains(&y);
            if let (true, Some((left, right))) = (y == first || y == end || varies, across(item)) {
                self.repaint(content, left, right, y);
            }
            next = next.min(change(item, y));
        }
        next
    }

    /// Paints pixels `left..=right` of row `y` anew and shrinks the columns they reach.
    #[inline(always)]
    fn repaint(&mut self, content: &Content, left: i32, right: i32, y: i32) {
        let Some(reach) = self.reach(content.columns, left, right) else { return };
        let (left, right) = (left.max(0), right.min(self.pixels.len() as i32 - 1));
        self.pixels[left as usize..=right as usize].fill(Colour::BLACK);
        if is_black(content, &reach, y) {
            // A neighbour that ends here too makes its own columns black.
            for line in &mut self.line {
                for byte in &mut line[reach.clone()] {
                    *byte = 0;
                }
            }
            return;
        }
        for item in content.shown().filter(|item| (item.rows.min..=item.rows.max).contains(&y)) {
            match &item.shape {
                Shape::Rectangle { min, max } => {
                    let (x0, x1) = (min.x.max(left), max.x.min(right));
                    if x0 <= x1 {
                        self.pixels[x0 as usize..=x1 as usize].fill(item.colour);
                    }
                }
                Shape::Bitmap { min, size, greys } => {
                    let line = &content.scene.greys(greys)[(y - min.y) as usize * size.width..][..size.width];
                    for x in min.x.max(left)..=(min.x + size.width as i32 - 1).min(right) {
                        self.pixels[x as usize] = Colour::grey(line[(x - min.x) as usize]);
                    }
                }
                _ => {}
            }
        }
        for column in reach {
            let tap = &content.columns.taps[column];
            let before = if tap.start == 0 { Colour::BLACK } else { self.pixels[tap.start - 1] };
            if let Some((&last, whole)) = self.pixels[tap.start..][..tap.len].split_last() {
                let reciprocal = content.columns.reciprocal;
                let bytes = filter::pixel(tap, reciprocal, filter::sum(whole), before, last);
                for (line, byte) in self.line.iter_mut().zip(bytes) {
                    line[column] = byte;
                }
            }
        }
    }
}

/// Whether nothing but a black background is in row `y` of the pixels of a few columns.
#[inline(always)]
fn is_black(content: &Content, reach: &Range<usize>, y: i32) -> bool {
    let (first, last) = (&content.columns.taps[reach.start], &content.columns.taps[reach.end - 1]);
    let (left, right) = (first.start as i32 - 1, (last.start + last.len) as i32 - 1);
    for item in content.shown().skip(1) {
        if (item.rows.min..=item.rows.max).contains(&y)
            && across(item).is_some_and(|(x0, x1)| x0 <= right && x1 >= left)
        {
            return false;
        }
    }
    content.items[0].colour == Colour::BLACK
}

/// The pixels of a row that an item reaches, from the left one to the right one.
#[inline(always)]
fn across(item: &Item) -> Option<(i32, i32)> {
    match item.shape {
        Shape::Rectangle { min, max } => Some((min.x, max.x)),
        Shape::Bitmap { min, size, .. } => Some((min.x, min.x + size.width as i32 - 1)),
        _ => None,
    }
}

/// The next row after `y` in which an item may look different.
#[inline(always)]
fn change(item: &Item, y: i32) -> i32 {
    let (first, end) = (item.rows.min, item.rows.max.saturating_add(1));
    if y < first {
        first
    } else if y >= end {
        i32::MAX
    } else if matches!(item.shape, Shape::Bitmap { .. }) {
        y + 1
    } else {
        end
    }
}
