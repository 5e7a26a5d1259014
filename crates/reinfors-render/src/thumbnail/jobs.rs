//! What is to be drawn of each mixed cell, sorted by kind, so that each kind is one small kernel.
//!
//! Most mixed cells are an *edge*: one shape over one colour. Before that is seen, two shapes side by side may
//! have to be found to hide what is below them, as the tiles of a road do wherever they meet.

use super::cells::{MARKS, Mark, shown};
use super::ink::{Ink, Inks};
use super::outline::Soft;
use super::rows::{LANES, Places};
use super::windows::{Axes, Window};
use crate::Colour;
use crate::canvas::Canvas;
use std::ops::Range;

/// The channels of a cell that are drawn: those that change, but for those that are everywhere what red is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channels {
    pub drawn: [u8; 3],
    pub count: u8,
    /// Whether green, and whether blue, is what red is.
    like_red: [bool; 2],
}

impl Channels {
    /// Puts what was drawn into the picture.
    #[inline(always)]
    pub fn write<const N: usize>(&self, values: [u8; N], cell: usize, canvas: &mut Canvas) {
        for (&channel, value) in self.drawn.iter().zip(values) {
            canvas.planes[usize::from(channel)][cell] = value;
        }
        for (channel, is_red) in (1..).zip(self.like_red) {
            if is_red {
                canvas.planes[channel][cell] = canvas.planes[0][cell];
            }
        }
    }

    /// The levels of a colour in the channels that are drawn.
    #[inline(always)]
    pub fn levels<const N: usize>(&self, colour: Colour) -> [u16; N] {
        let mut levels = [0; N];
        for (level, channel) in levels.iter_mut().zip(self.drawn) {
            *level = (colour.0 >> (8 * channel)) as u16 & 0xff;
        }
        levels
    }
}

/// The soft pixels that an edge may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hard,
    Steep,
    Flat,
}

/// A cell with one shape over one colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub cell: u32,
    pub under: Colour,
    pub ink: u32,
    /// The line that comes near.
    pub line: u32,
    pub channels: Channels,
}

/// Any other cell: shapes over a colour.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    pub cell: u32,
    pub under: Colour,
    pub marks: Range<usize>,
    pub channels: Channels,
}

/// The work of a frame, by kind and by the number of channels less one.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    pub edges: [[Vec<Edge>; 3]; 3],
    pub mixes: [Vec<Mix>; 3],
    pub marks: Vec<Mark>,
}

impl Jobs {
    /// For pictures of so many cells.
    pub fn new(cells: usize) -> Self {
        let room = || Vec::with_capacity(cells);
        Self {
            edges: [(); 3].map(|()| [(); 3].map(|()| room())),
            mixes: [(); 3].map(|()| Vec::with_capacity(cells)),
            marks: Vec::with_capacity(MARKS * cells),
        }
    }

    pub fn clear(&mut self) {
        self.edges.as_flattened_mut().iter_mut().for_each(Vec::clear);
        self.mixes.iter_mut().for_each(Vec::clear);
        self.marks.clear();
    }

    /// Takes a cell: the colour that covers it, then the marks from `first` on.
    #[inline(always)]
    pub fn push(
        &mut self,
        (row, column, cell): (usize, usize, usize),
        mut under: Colour,
        first: usize,
        inks: &Inks,
        axes: Axes,
        canvas: &mut Canvas,
    ) {
        let hidden = self.hidden(first, inks, &axes.0.windows[column], &axes.1.windows[row]);
        if hidden > 0 {
            under = inks.get(self.marks[first + hidden - 1].ink).colour;
            for (plane, value) in canvas.planes.iter_mut().zip(shown(under, axes, row, column)) {
                plane[cell] = value;
            }
        }
        let marks = first + hidden..self.marks.len();
        let channels = compare(under, &self.marks[marks.clone()], inks);
        if channels.count == 0 {
            return;
        }
        let index = usize::from(channels.count) - 1;
        let cell = cell as u32;
        if let [mark] = self.marks[marks.clone()]
            && inks.get(mark.ink).is_plain(mark.lines)
        {
            let line = mark.lines.trailing_zeros();
            let kind = match inks.get(mark.ink).line(inks, line) {
                None => Kind::Hard,
                Some(Soft::Steep(_)) => Kind::Steep,
                Some(Soft::Flat(_)) => Kind::Flat,
            };
            self.edges[kind as usize][index].push(Edge { cell, under, ink: mark.ink, line, channels });
        } else {
            self.mixes[index].push(Mix { cell, under, marks, channels });
        }
    }

    /// How many of a cell's first shapes do not show, but for their colour, nor what is below them: each is
    /// hidden by itself and the next.
    #[inline(always)]
    fn hidden(&self, first: usize, inks: &Inks, columns: &Window, rows: &Window) -> usize {
        let (start, end) = (columns.start as i16, (columns.end - 1) as i16);
        let mut hidden = 0;
        while let [first, second, ..] = self.marks[first + hidden..] {
            let (first, second) = (inks.get(first.ink), inks.get(second.ink));
            if !(first.is_simple() && second.is_simple()) {
                break;
            }
            let mut row = rows.start;
            while row < rows.end {
                let (a, b) = (inks.read(first, row), inks.read(second, row));
                if !hides(&a, &b, start, end, rows.end - row) {
                    return hidden;
                }
                row += LANES as i32;
            }
            hidden += 1;
        }
        hidden
    }
}

impl Ink {
    /// One of its lines.
    #[inline(always)]
    pub fn line<'a>(&self, inks: &'a Inks, line: u32) -> Option<&'a Soft> {
        inks.lines[self.lines.clone()].get(line as usize)
    }
}

/// Looks at the colours of a cell.
#[inline(always)]
fn compare(under: Colour, marks: &[Mark], inks: &Inks) -> Channels {
    let base = under.0;
    let (mut differing, mut green, mut blue) = (0, base >> 8 ^ base, base >> 16 ^ base);
    for mark in marks {
        let ink = inks.get(mark.ink);
        let colour = ink.colour.0;
        differing |= colour ^ base;
        green |= colour >> 8 ^ colour;
        blue |= colour >> 16 ^ colour;
        if ink.picture.is_some() {
            // Any grey.
            differing = u32::MAX;
        }
    }
    let like_red = [green & 0xff == 0, blue & 0xff == 0];
    let wanted = [
        differing & 0xff != 0,
        differing >> 8 & 0xff != 0 && !like_red[0],
        differing >> 16 & 0xff != 0 && !like_red[1],
    ];
    let mut channels = Channels { like_red, ..Channels::default() };
    for (channel, is_wanted) in (0..).zip(wanted) {
        channels.drawn[usize::from(channels.count).min(2)] = channel;
        channels.count += u8::from(is_wanted);
    }
    channels
}

/// Whether two spans fill columns `start..=end` of the first `count` of sixteen rows.
#[inline(always)]
fn hides(a: &(Places, Places), b: &(Places, Places), start: i16, end: i16, count: i32) -> bool {
    let mut open = Places([0; LANES]);
    for lane in 0..LANES {
        let (a_left, a_right) = (a.0.0[lane], a.1.0[lane]);
        let (b_left, b_right) = (b.0.0[lane], b.1.0[lane]);
        let by_a = mask(a_left <= start) & mask(a_right >= end);
        let by_b = mask(b_left <= start) & mask(b_right >= end);
        let meet = mask(a_left.max(b_left) <= a_right.min(b_right).saturating_add(1));
        let by_both = mask(a_left.min(b_left) <= start) & mask(a_right.max(b_right) >= end) & meet;
        open.0[lane] = !(by_a | by_b | by_both) & mask((lane as i16) < count as i16);
    }
    open == Places([0; LANES])
}

/// All bits or none.
#[inline(always)]
const fn mask(condition: bool) -> i16 {
    -(condition as i16)
}
