//! Texts drawn lately: a score stands for many frames, and many games show the same one.
//!
//! A fixed number of places. A text has one of them, found by its bytes and certain by all of them.

use crate::Point;
use crate::text::Label;

/// Places, a power of two: many times the texts that many games show at a time.
const PLACES: usize = 1024;

/// The most cells of a remembered text.
const MOST_CELLS: usize = 160;

/// What texts came out as, white on black.
#[derive(Clone, Debug, Default)]
pub(super) struct Memo {
    /// Made at the first use: most panels show no text.
    places: Vec<Place>,
}

/// A text, where it stands and what it came out as.
#[derive(Clone, Debug)]
struct Place {
    key: Option<Key>,
    cells: [u8; MOST_CELLS],
}

/// What tells texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    label: Label,
    min: Point,
}

impl Key {
    /// The key of a text that covers so many cells, unless they are too many.
    pub fn new(label: Label, min: Point, cells: usize) -> Option<Self> {
        (cells <= MOST_CELLS).then_some(Self { label, min })
    }

    #[inline(always)]
    fn place(&self) -> usize {
        let seed = self.min.x.wrapping_mul(31).wrapping_add(self.min.y) as u32 ^ self.label.strike;
        let (words, _) = self.label.bytes.as_chunks::<4>();
        let mixed = words.iter().fold(seed, |mixed, word| {
            (mixed ^ u32::from_le_bytes(*word)).wrapping_mul(0x9e37_79b1).rotate_left(15)
        });
        (mixed.wrapping_mul(0x85eb_ca6b) >> 16) as usize % PLACES
    }
}

impl Memo {
    /// Whether the text is remembered.
    #[inline(always)]
    pub fn holds(&self, key: &Key) -> bool {
        self.places.get(key.place()).is_some_and(|place| place.key == Some(*key))
    }

    /// Remembers the rows of cells of one channel of a text that was drawn.
    pub fn keep<'a>(&mut self, key: Key, rows: impl Iterator<Item = &'a mut [u8]>) {
        if self.places.is_empty() {
            self.places.resize(PLACES, Place { key: None, cells: [0; MOST_CELLS] });
        }
        let place = &mut self.places[key.place()];
        place.key = Some(key);
        let mut rest = &mut place.cells[..];
        for row in rows {
            let (cells, unused) = rest.split_at_mut(row.len());
            cells.copy_from_slice(row);
            rest = unused;
        }
    }

    /// Draws one channel of a text that [`Memo::holds`].
    #[inline(always)]
    pub fn recall<'a>(&self, key: &Key, rows: impl Iterator<Item = &'a mut [u8]>) {
        let mut rest = &self.places[key.place()].cells[..];
        for row in rows {
            let (cells, unused) = rest.split_at(row.len());
            row.copy_from_slice(cells);
            rest = unused;
        }
    }
}
