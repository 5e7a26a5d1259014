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
    /// What is shown on the background.
    spots: Vec<Spot>,
}

/// An item that reaches some columns, and where it lies.
#[derive(Clone, Debug)]
struct Spot {
    item: usize,
    /// Its pixels, both ends included, and the columns they have a share in.
    left: i32,
    right: i32,
    reach: Range<usize>,
    /// Its first row, and the one after its last.
    first: i32,
    end: i32,
    /// Whether its rows differ.
    varies: bool,
}

impl Spot {
    #[inline(always)]
    const fn holds(&self, y: i32) -> bool {
        self.first <= y && y < self.end
    }

    /// The next row after `y` in which it may look different.
    #[inline(always)]
    const fn change(&self, y: i32) -> i32 {
        if y < self.first {
            self.first
        } else if y >= self.end {
            i32::MAX
        } else if self.varies {
            y + 1
        } else {
            self.end
        }
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
            spots: Vec::new(),
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
        for Spot { reach, first, end, .. } in &self.spots {
            if *first < rows.end && *end > rows.start {
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
        self.find_spots(content);
        let mut next = i32::MAX;
        for spot in 0..self.spots.len() {
            if self.spots[spot].holds(y) {
                self.repaint(content, spot, y);
            }
            next = next.min(self.spots[spot].change(y));
        }
        next
    }

    #[inline(always)]
    fn find_spots(&mut self, content: &Content) {
        self.spots.clear();
        for (index, item) in content.items.iter().enumerate().skip(1) {
            if Some(index) != content.skipped
                && let Some((left, right)) = across(item)
                && let Some(reach) = self.reach(content.columns, left, right)
            {
                let (first, end) = (item.rows.min, item.rows.max.saturating_add(1));
                let varies = matches!(item.shape, Shape::Bitmap { .. });
                self.spots.push(Spot { item: index, left, right, reach, first, end, varies });
            }
        }
    }

    /// Brings the scanline from row `y - 1` to row `y`; tells the next row that may differ.
    #[inline(always)]
    pub fn advance(&mut self, content: &Content, y: i32) -> i32 {
        let mut next = i32::MAX;
        for number in 0..self.spots.len() {
            let spot = &self.spots[number];
            if y == spot.first || y == spot.end || spot.varies && spot.holds(y) {
                self.repaint(content, number, y);
            }
            next = next.min(self.spots[number].change(y));
        }
        next
    }

    /// Paints the pixels of a spot in row `y` anew and shrinks the columns they reach.
    #[inline(always)]
    fn repaint(&mut self, content: &Content, spot: usize, y: i32) {
        let Spot { left, right, ref reach, .. } = self.spots[spot];
        let reach = reach.clone();
        let (left, right) = (left.max(0), right.min(self.pixels.len() as i32 - 1));
        self.pixels[left as usize..=right as usize].fill(content.items[0].colour);
        if self.is_black(content, &reach, y) {
            // A neighbour that ends here too makes its own columns black.
            for line in &mut self.line {
                for byte in &mut line[reach.clone()] {
                    *byte = 0;
                }
            }
            return;
        }
        for spot in self.spots.iter().filter(|spot| spot.holds(y)) {
            let (x0, x1) = (spot.left.max(left), spot.right.min(right));
            if x0 > x1 {
                continue;
            }
            let (item, pixels) = (&content.items[spot.item], &mut self.pixels[x0 as usize..=x1 as usize]);
            if let Shape::Bitmap { min, size, greys } = &item.shape {
                let line = &content.scene.greys(greys)[(y - min.y) as usize * size.width..][..size.width];
                for (pixel, &grey) in pixels.iter_mut().zip(&line[(x0 - min.x) as usize..]) {
                    *pixel = Colour::grey(grey);
                }
            } else {
                pixels.fill(item.colour);
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

    /// Whether nothing but a black background is in row `y` of the pixels of a few columns.
    #[inline(always)]
    fn is_black(&self, content: &Content, reach: &Range<usize>, y: i32) -> bool {
        let taps = &content.columns.taps;
        let (first, last) = (&taps[reach.start], &taps[reach.end - 1]);
        let (left, right) = (first.start as i32 - 1, (last.start + last.len) as i32 - 1);
        for spot in &self.spots {
            if spot.holds(y) && spot.left <= right && spot.right >= left {
                return false;
            }
        }
        content.items[0].colour == Colour::BLACK
    }
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
