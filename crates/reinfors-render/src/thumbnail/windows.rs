//! One axis of the surface as the cells see it: which of its pixels a cell depends on, and which cells
//! depend on a pixel.
//!
//! Neighbouring windows share a pixel where the filter divides it between them with weight enough to count.

use super::rows::{LANES, Lanes, Places};
use super::sets::{STRETCH, Set, before};
use crate::axis::{Axis, Tap};
use std::ops::{Range, RangeInclusive};

/// Levels of a channel.
const LEVELS: usize = 256;

/// What of an axis one cell depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// First pixel, perhaps shared with the window before.
    pub start: i32,
    /// Beyond the last pixel, which may be shared with the next window.
    pub end: i32,
    /// Weight of the first pixel if it is shared, else 0.
    pub lead: u16,
    /// Weight of the last pixel.
    pub tail: u16,
}

impl Window {
    #[inline(always)]
    pub const fn len(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// What a pixel says of the cells of a stretch: places among them, from 0 to their end.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// The first cell that depends on the pixel, and the one after the last.
    touched: [u8; 2],
    /// The first cell that depends on no pixel before it, and the one after the last that depends on none
    /// behind it.
    inside: [u8; 2],
}

/// The cells of a stretch, as pixels of the axis know them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'a>(&'a [Bounds]);

impl<'a> Scale<'a> {
    #[inline(always)]
    fn new(bounds: &'a [Bounds]) -> Self {
        // Spares a check of each pixel.
        assert!(!bounds.is_empty(), "what pixels beyond the axis say");
        Self(bounds)
    }

    /// The cells that depend on any of the pixels `first..=last`, which are in order; none if both lie beyond
    /// the axis. Numbers below 0 do.
    #[inline(always)]
    pub fn touched(self, first: i16, last: i16) -> Set {
        before(self.at(last).touched[1]) & !before(self.at(first).touched[0])
    }

    /// The cells that depend on nothing but pixels `first..=last`.
    #[inline(always)]
    pub fn inside(self, first: i16, last: i16) -> Set {
        before(self.at(last).inside[1]) & !before(self.at(first).inside[0])
    }

    #[inline(always)]
    fn at(self, pixel: i16) -> Bounds {
        self.0[usize::from(pixel as u16).min(self.0.len() - 1)]
    }
}

/// Columns and rows.
pub(super) type Axes<'a> = (&'a Windows, &'a Windows);

/// One axis, cut into windows.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    pub windows: Vec<Window>,
    pub reciprocal: u16,
    /// Windows that are wanted: all, or those before it.
    pub end: usize,
    /// Pixels that reach the output.
    pub length: i32,
    /// The first and last window that depend on each pixel.
    touched: Vec<[u16; 2]>,
    /// Of each stretch, what the pixels say, and what those say that lie beyond the axis: nothing is touched.
    bounds: Vec<Vec<Bounds>>,
    /// The first and last pixel of each window, and of some that are no windows.
    firsts: Vec<i16>,
    lasts: Vec<i16>,
    /// Sixteen pixels at a time, how often until the widest window ends.
    pub strips: usize,
    /// The filter's weights, strip after strip, window after window; padded with zeros.
    weights: Vec<Lanes>,
    /// What a value all over a window comes out as, 256 values to a window.
    uniform: Vec<u8>,
    /// Whether that is the same in every window.
    is_even: bool,
}

impl Windows {
    pub fn new(axis: &Axis) -> Self {
        let window = |tap: &Tap| {
            let lead = if Axis::fraction(255, tap.lead) > 0 && tap.start > 0 { tap.lead } else { 0 };
            let start = tap.start as i32 - i32::from(lead > 0);
            Window { start, end: (tap.start + tap.len) as i32, lead: lead as u16, tail: tap.tail as u16 }
        };
        let windows: Vec<Window> = axis.taps.iter().map(window).collect();
        let length = windows.last().map_or(0, |window| window.end);
        let mut touched = vec![[u16::MAX, 0]; length as usize];
        let widest = windows.iter().map(Window::len).max().unwrap_or(0);
        let strips = widest.div_ceil(LANES);
        let mut weights = Vec::with_capacity(strips * windows.len());
        for (index, window) in windows.iter().enumerate() {
            for pixel in window.start..window.end {
                let [first, last] = &mut touched[pixel as usize];
                *first = (*first).min(index as u16);
                *last = index as u16;
            }
            let weight = |pixel: i32| match pixel {
                pixel if pixel >= window.end => 0,
                pixel if pixel == window.end - 1 => window.tail,
                pixel if pixel == window.start && window.lead > 0 => window.lead,
                _ => 0x4000,
            };
            for strip in 0..strips {
                let start = window.start + (LANES * strip) as i32;
                weights.push(Lanes::from_fn(|lane| weight(start + lane as i32)));
            }
        }
        let bounds = (0..windows.len()).step_by(STRETCH).map(|start| {
            let count = (windows.len() - start).min(STRETCH);
            let place = |cell: usize| cell.saturating_sub(start).min(count) as u8;
            let is_not_before = |pixel: i32| windows.partition_point(|window| window.start < pixel);
            let is_until = |pixel: i32| windows.partition_point(|window| window.end - 1 <= pixel);
            let of = |(pixel, &[first, last]): (usize, &[u16; 2])| Bounds {
                touched: [first.into(), usize::from(last) + 1].map(place),
                inside: [is_not_before(pixel as i32), is_until(pixel as i32)].map(place),
            };
            let beyond = Bounds { touched: [count as u8; 2], inside: [count as u8; 2] };
            touched.iter().enumerate().map(of).chain([beyond]).collect()
        });
        let bounds: Vec<Vec<Bounds>> = bounds.collect();
        let padded = |pixel: fn(&Window) -> i32| {
            windows.iter().map(|window| pixel(window) as i16).chain([0; LANES]).collect()
        };
        let levels = |index| (0..=u8::MAX).map(move |value| axis.uniform(index, value));
        let uniform: Vec<u8> = (0..windows.len()).flat_map(levels).collect();
        Self {
            is_even: uniform.chunks(LEVELS).all(|levels| levels == &uniform[..LEVELS]),
            firsts: padded(|window| window.start),
            lasts: padded(|window| window.end - 1),
            end: windows.len(),
            windows,
            reciprocal: axis.reciprocal as u16,
            length,
            touched,
            bounds,
            strips,
            weights,
            uniform,
        }
    }

    /// Wants only the windows before `end`.
    pub fn limit(&mut self, end: usize) {
        self.end = end;
        self.length = self.windows[..end].last().map_or(0, |window| window.end);
    }

    /// The windows that depend on any of the pixels `first..=last`, which lie on the axis.
    #[inline(always)]
    pub fn touched(&self, first: i32, last: i32) -> Range<usize> {
        let (start, end) = (self.touched[first as usize][0], self.touched[last as usize][1] + 1);
        usize::from(start)..usize::from(end).min(self.end)
    }

    /// How pixels are cells of each stretch.
    #[inline(always)]
    pub fn scales(&self) -> impl Iterator<Item = (usize, Scale<'_>)> {
        self.bounds.iter().map(|bounds| Scale::new(bounds)).enumerate()
    }

    /// How pixels are cells of one stretch.
    #[inline(always)]
    pub fn scale(&self, stretch: usize) -> Scale<'_> {
        Scale::new(&self.bounds[stretch])
    }

    /// The first and last pixels of sixteen windows from `index` on, which is one.
    #[inline(always)]
    pub fn ends(&self, index: usize) -> [Places; 2] {
        let read = |places: &[i16]| Places(places[index..][..LANES].try_into().expect("sixteen windows"));
        [read(&self.firsts), read(&self.lasts)]
    }

    /// The part of `pixels` that lies on the axis, if any.
    #[inline(always)]
    pub fn clip(&self, pixels: RangeInclusive<i32>) -> Option<[i32; 2]> {
        let (first, last) = ((*pixels.start()).max(0), (*pixels.end()).min(self.length - 1));
        (first <= last).then_some([first, last])
    }

    /// The weights of the pixels in one strip of a window.
    #[inline(always)]
    pub fn strip(&self, index: usize, strip: usize) -> &Lanes {
        &self.weights[self.strips * index + strip]
    }

    /// What one value all over window `index` comes out as.
    #[inline(always)]
    pub fn uniform(&self, index: usize, value: u8) -> u8 {
        self.uniform[LEVELS * index + usize::from(value)]
    }

    /// Whether a value all over comes out the same in every window.
    #[inline(always)]
    pub const fn is_even(&self) -> bool {
        self.is_even
    }
}
