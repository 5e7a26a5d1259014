//! What is to be drawn of each mixed cell, sorted by kind, so that each kind is one small kernel.
//!
//! Most are an *edge*: one shape over one colour.

use super::cells::LINES;
use super::ink::{Ink, Inks};
use super::outline::Soft;
use super::sets::Half;
use crate::Colour;
use crate::canvas::Canvas;
use std::ops::Range;

/// That a shape touches a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub ink: u32,
    /// Which of its lines come near: line `k` has bit `k % LINES`.
    pub lines: u32,
}

/// The number of no line.
pub(super) const NO_LINE: u32 = u32::MAX;

/// The channels of a cell that are drawn: those that change, but for those that are everywhere what red is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channels {
    pub drawn: [u8; 3],
    pub count: u8,
    /// Which of those that are drawn each channel shows, or some number beyond them.
    shown: [u8; 3],
}

/// Those for each answer to five questions, a bit to each: whether red, green and blue change, and whether
/// green and blue differ from red anywhere.
static CHANNELS: [Channels; 32] = {
    let mut channels = [Channels::of(0); 32];
    let mut answers = 0;
    while answers < channels.len() {
        channels[answers] = Channels::of(answers);
        answers += 1;
    }
    channels
};

impl Channels {
    const fn of(answers: usize) -> Self {
        let [red, green, blue] = [answers & 1 != 0, answers & 2 != 0, answers & 4 != 0];
        let [green_differs, blue_differs] = [answers & 8 != 0, answers & 16 != 0];
        let wanted = [red, green && green_differs, blue && blue_differs];
        let like_red = [false, !green_differs, !blue_differs];
        let mut channels = Self { drawn: [0; 3], count: 0, shown: [u8::MAX; 3] };
        let mut channel = 0;
        while channel < wanted.len() {
            if wanted[channel] {
                channels.drawn[channels.count as usize] = channel as u8;
                channels.shown[channel] = channels.count;
                channels.count += 1;
            } else if like_red[channel] {
                channels.shown[channel] = channels.shown[0];
            }
            channel += 1;
        }
        channels
    }

    /// Puts what was drawn into the picture.
    #[inline(always)]
    pub fn write<const N: usize>(&self, values: [u8; N], cell: usize, canvas: &mut Canvas) {
        for (plane, shown) in canvas.planes.iter_mut().zip(self.shown) {
            if let Some(&value) = values.get(usize::from(shown)) {
                plane[cell] = value;
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

impl Kind {
    /// That of an edge with this line near, or with none.
    #[inline(always)]
    pub const fn of(line: Option<&Soft>) -> Self {
        match line {
            None => Self::Hard,
            Some(Soft::Steep(_)) => Self::Steep,
            Some(Soft::Flat(_)) => Self::Flat,
        }
    }
}

/// Cells of half a stretch with one shape over one colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// Which cells, counted from `first` on.
    pub cells: Half,
    pub first: u32,
    pub under: Colour,
    pub ink: u32,
    /// The line that comes near, of all shapes' lines, or [`NO_LINE`].
    pub line: u32,
    pub channels: &'static Channels,
}

/// Any other cell: shapes over a colour.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    pub cell: u32,
    pub under: Colour,
    pub marks: Range<usize>,
    pub channels: &'static Channels,
}

/// The work of a frame, by the number of channels less one, edges then by kind.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    pub edges: [[Vec<Edges>; 3]; 3],
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
            marks: Vec::with_capacity(LINES * cells),
        }
    }

    pub fn clear(&mut self) {
        self.edges.as_flattened_mut().iter_mut().for_each(Vec::clear);
        self.mixes.iter_mut().for_each(Vec::clear);
        self.marks.clear();
    }

    /// The edges in some channels, by kind; nothing if no channel shows any.
    #[inline(always)]
    pub fn edges_in(&mut self, channels: &Channels) -> Option<&mut [Vec<Edges>; 3]> {
        self.edges.get_mut(usize::from(channels.count).wrapping_sub(1))
    }

    /// Takes a cell: the colour that fills it, then the marks from `first` on.
    #[inline(always)]
    pub fn push_mix(&mut self, cell: usize, under: Colour, first: usize, channels: &'static Channels) {
        if let Some(index) = usize::from(channels.count).checked_sub(1) {
            let marks = first..self.marks.len();
            self.mixes[index].push(Mix { cell: cell as u32, under, marks, channels });
        }
    }

    /// The same, after looking how its colours differ and whether it is an edge.
    #[inline(always)]
    pub fn push(&mut self, cell: usize, under: Colour, first: usize, inks: &Inks) {
        let mut contrast = Contrast::of(under);
        for mark in &self.marks[first..] {
            contrast = contrast.and(inks.get(mark.ink));
        }
        let channels = contrast.channels();
        if let &[mark] = &self.marks[first..]
            && inks.get(mark.ink).is_plain()
            && mark.lines & mark.lines.wrapping_sub(1) == 0
        {
            let first_line = inks.get(mark.ink).lines.start as u32;
            let line = if mark.lines == 0 { NO_LINE } else { first_line + mark.lines.trailing_zeros() };
            if let Some(edges) = self.edges_in(channels) {
                edges[Kind::of(inks.line(line)) as usize].push(Edges {
                    cells: 1,
                    first: cell as u32,
                    under,
                    ink: mark.ink,
                    line,
                    channels,
                });
            }
        } else {
            self.push_mix(cell, under, first, channels);
        }
    }
}

impl Inks {
    /// A line, or none for [`NO_LINE`].
    #[inline(always)]
    pub fn line(&self, line: u32) -> Option<&Soft> {
        self.lines.get(line as usize)
    }
}

/// How the colours of a cell differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contrast {
    base: u32,
    /// Bits in which a colour differs from the first.
    differing: u32,
    /// Bits, in the lowest byte, in which green or blue differs from red.
    green: u32,
    blue: u32,
}

impl Contrast {
    /// Of one colour.
    #[inline(always)]
    pub const fn of(Colour(base): Colour) -> Self {
        Self { base, differing: 0, green: base >> 8 ^ base, blue: base >> 16 ^ base }
    }

    /// With the colours of one more shape.
    #[inline(always)]
    pub const fn and(mut self, ink: &Ink) -> Self {
        let Colour(colour) = ink.colour;
        // A picture may show any grey.
        self.differing |= if ink.picture.is_some() { u32::MAX } else { colour ^ self.base };
        self.green |= colour >> 8 ^ colour;
        self.blue |= colour >> 16 ^ colour;
        self
    }

    /// The channels that tell them apart.
    #[inline(always)]
    pub fn channels(self) -> &'static Channels {
        let Self { differing, green, blue, .. } = self;
        let bits = [differing & 0xff, differing & 0xff00, differing & 0xff_0000, green & 0xff, blue & 0xff];
        let index = bits.iter().rev().fold(0, |index, &bits| 2 * index + usize::from(bits != 0));
        &CHANNELS[index]
    }
}
