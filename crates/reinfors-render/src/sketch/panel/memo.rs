//! Pictures drawn lately, by what they show: a score stands for many frames, and many games show the same one.
//!
//! A fixed number of places, found by a few of the picture's bytes and certain by all of them.

use crate::{Point, Size};

/// Places; scores of as many games at a time, and some more.
const PLACES: usize = 128;

/// The largest picture remembered, in source pixels, and the most output bytes.
const MOST_GREYS: usize = 6000;
const MOST_CELLS: usize = 1000;

/// Every how many words of a picture one is looked at to find its place.
const STEP: usize = 5;

/// What pictures came out as.
#[derive(Clone, Debug, Default)]
pub(super) struct Memo {
    /// Made at the first use: most panels show no picture.
    places: Vec<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    min: Point,
    size: Size,
    greys: Vec<u8>,
    cells: Vec<u8>,
}

impl Memo {
    /// The place for a picture, unless it is too large.
    #[inline(always)]
    pub fn slot(&self, greys: &[u8], min: Point, cells: usize) -> Option<usize> {
        if greys.len() > MOST_GREYS || 3 * cells > MOST_CELLS {
            return None;
        }
        let (words, _) = greys.as_chunks::<8>();
        let seed = u64::from(min.x as u32) << 32 | u64::from(min.y as u32);
        let mixed = words.iter().step_by(STEP).fold(seed, |mixed, word| {
            (mixed ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        Some(mixed as usize % PLACES)
    }

    /// Whether that very picture is remembered.
    #[inline(always)]
    pub fn holds(&self, slot: usize, greys: &[u8], min: Point, size: Size) -> bool {
        self.places
            .get(slot)
            .is_some_and(|place| place.min == min && place.size == size && place.greys == greys)
    }

    /// Remembers a picture that was drawn.
    pub fn keep<'a>(
        &mut self,
        slot: usize,
        greys: &[u8],
        min: Point,
        size: Size,
        cells: impl Iterator<Item = &'a mut [u8]>,
    ) {
        if self.places.is_empty() {
            self.places.extend((0..PLACES).map(|_| Place {
                min: Point::default(),
                size: Size::new(0, 0),
                greys: Vec::with_capacity(MOST_GREYS),
                cells: Vec::with_capacity(MOST_CELLS),
            }));
        }
        let place = &mut self.places[slot];
        (place.min, place.size) = (min, size);
        place.greys.clear();
        place.greys.extend_from_slice(greys);
        place.cells.clear();
        cells.for_each(|row| place.cells.extend_from_slice(row));
    }

    /// Draws a picture that [`Memo::holds`].
    #[inline(always)]
    pub fn recall<'a>(&self, slot: usize, cells: impl Iterator<Item = &'a mut [u8]>) {
        let mut kept = &self.places[slot].cells[..];
        for row in cells {
            let (known, rest) = kept.split_at(row.len());
            row.copy_from_slice(known);
            kept = rest;
        }
    }
}
