//! How far a fill reaches in the rows of each window: the least and the most of its first and last columns.

use super::rows::{LANES, Lanes, Places};
use super::spans::Layer;
use super::windows::Window;

/// How far a layer reaches in a window; if that has no span, beyond every axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub min_left: i16,
    /// Beyond every axis if some row has no span.
    pub max_left: i16,
    /// Of the rows that have a span.
    pub min_right: i16,
    pub max_right: i16,
}

/// Those of up to sixteen windows.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    /// What each window's least and largest are looked for in. It lies in memory: from registers the compiler
    /// would take the lanes one by one.
    numbers: [Numbers; LANES],
    pub found: [Extent; LANES],
}

/// First and last columns of a window's rows, sixteen at a time: for the least, and for the largest of them.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    lefts: [Lanes; 2],
    rights: [Lanes; 2],
}

impl Extents {
    pub const NONE: Self = Self {
        numbers: [Numbers { lefts: [Lanes::ZERO; 2], rights: [Lanes::ZERO; 2] }; LANES],
        found: [Extent { min_left: 0, max_left: 0, min_right: 0, max_right: 0 }; LANES],
    };

    /// Looks at a layer in windows that meet its rows, sixteen at most.
    #[inline(always)]
    pub fn look(&mut self, layer: &Layer, windows: &[Window]) {
        for (numbers, window) in self.numbers.iter_mut().zip(windows) {
            let rows = layer.around(window.start..window.end);
            let (lefts, rights) = marked(layer, rows.start, rows.end);
            let mut all = Numbers { lefts: [lefts; 2], rights: [rights; 2] };
            let mut row = rows.start + LANES;
            while row < rows.end {
                let (lefts, rights) = marked(layer, row, rows.end);
                all.lefts = joined(all.lefts, lefts);
                all.rights = joined(all.rights, rights);
                row += LANES;
            }
            *numbers = all;
        }
        // A loop for each, or the compiler takes vectors apart.
        let numbers = &self.numbers[..windows.len().min(LANES)];
        for (extent, numbers) in self.found.iter_mut().zip(numbers) {
            extent.min_left = numbers.lefts[0].min() as i16;
        }
        for (extent, numbers) in self.found.iter_mut().zip(numbers) {
            extent.max_left = numbers.lefts[1].signed().max();
        }
        for (extent, numbers) in self.found.iter_mut().zip(numbers) {
            extent.min_right = numbers.rights[0].min() as i16;
        }
        for (extent, numbers) in self.found.iter_mut().zip(numbers) {
            extent.max_right = numbers.rights[1].signed().max();
        }
    }
}

/// The columns of sixteen rows from `row` on. Those from `end` on count for nothing: they are all bits, the
/// largest number and, with a sign, less than any column.
#[inline(always)]
fn marked(layer: &Layer, row: usize, end: usize) -> (Lanes, Lanes) {
    let (lefts, rights) = layer.at(row);
    let beyond = Lanes::beyond(end - row);
    let marked = |places: Places| Lanes::from_fn(|lane| places.0[lane] as u16 | beyond.0[lane]);
    (marked(lefts), marked(rights))
}

/// The least and, with a sign, the largest of what there was and of what comes.
#[inline(always)]
fn joined([least, most]: [Lanes; 2], next: Lanes) -> [Lanes; 2] {
    [
        Lanes::from_fn(|lane| least.0[lane].min(next.0[lane])),
        Lanes::from_fn(|lane| (most.0[lane] as i16).max(next.0[lane] as i16) as u16),
    ]
}
