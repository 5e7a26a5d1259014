//! Text at one size of one font, from pictures of its characters and the distances between them.
//!
//! A *strike* is what a font gives at a fixed size. Characters stand at whole pixels: the pen advances in
//! 64ths, by the character's width and its pair's kerning, and is cut down. Overlaps take the brighter pixel.

use crate::Size;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// File signature and version.
const MAGIC: &[u8; 4] = b"STR1";

/// The pictures, widths and kerning of a few characters. Clones share them.
#[derive(Clone, Debug)]
pub struct Strike(Arc<Characters>);

#[derive(Debug)]
struct Characters {
    /// Tells strikes apart; a clone, which draws the same, has the same.
    id: u32,
    height: usize,
    glyphs: Vec<Glyph>,
    /// Pen advance in 64ths of a pixel from a character to the next: `advance[first * glyphs + second]`.
    advances: Vec<u16>,
}

/// A short text of one strike: labels that are equal look the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label {
    pub strike: u32,
    pub bytes: [u8; Self::LONGEST],
}

impl Label {
    const LONGEST: usize = 12;
}

#[derive(Clone, Debug)]
struct Glyph {
    character: u8,
    width: usize,
    greys: Vec<u8>,
}

/// A strike that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrikeError;

impl std::fmt::Display for StrikeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a strike: it must start with STR1 and have the length its header tells")
    }
}

impl std::error::Error for StrikeError {}

impl Glyph {
    /// The glyph, `height` rows high, so many times as large: greys are interpolated and their slopes kept.
    fn enlarged(&self, height: usize, times: usize) -> Self {
        let grey = |x: f32, y: f32| {
            let (column, row) = (x.floor(), y.floor());
            let at = |column: f32, row: f32| {
                let inside = column >= 0.0 && row >= 0.0 && column < self.width as f32 && row < height as f32;
                if inside { f32::from(self.greys[row as usize * self.width + column as usize]) } else { 0.0 }
            };
            let (right, down) = (x - column, y - row);
            let upper = at(column, row) * (1.0 - right) + at(column + 1.0, row) * right;
            let lower = at(column, row + 1.0) * (1.0 - right) + at(column + 1.0, row + 1.0) * right;
            upper * (1.0 - down) + lower * down
        };
        let middle = |pixel: usize| (pixel as f32 + 0.5) / times as f32 - 0.5;
        let steep = |grey: f32| ((grey - 127.5) * times as f32 + 127.5).clamp(0.0, 255.0) as u8;
        let width = self.width * times;
        let pixels = (0..height * times).flat_map(|y| (0..width).map(move |x| (x, y)));
        let greys = pixels.map(|(x, y)| steep(grey(middle(x), middle(y)))).collect();
        Self { character: self.character, width, greys }
    }
}

/// Tells strikes apart.
fn new_id() -> u32 {
    static STRIKES: AtomicU32 = AtomicU32::new(0);
    STRIKES.fetch_add(1, Ordering::Relaxed)
}

impl Strike {
    /// Reads a strike. All numbers are bytes or little-endian 16-bit:
    /// `STR1`, height, number of glyphs; the advances (16-bit, row per first character); for each glyph its
    /// character, its width, the rows left out above and the rows that follow, then those rows' greys.
    ///
    /// # Errors
    /// [`StrikeError`] if the bytes are anything else.
    pub fn parse(bytes: &[u8]) -> Result<Self, StrikeError> {
        let mut bytes = bytes.strip_prefix(MAGIC).ok_or(StrikeError)?;
        let mut take = |count: usize| {
            let (taken, rest) = bytes.split_at_checked(count).ok_or(StrikeError)?;
            bytes = rest;
            Ok(taken)
        };
        let header = take(2)?;
        let (height, count) = (usize::from(header[0]), usize::from(header[1]));
        let advances =
            take(2 * count * count)?.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
        let mut glyphs = Vec::with_capacity(count);
        for _ in 0..count {
            let &[character, width, above, rows] = take(4)? else { return Err(StrikeError) };
            let (width, above, rows) = (usize::from(width), usize::from(above), usize::from(rows));
            if above + rows > height {
                return Err(StrikeError);
            }
            let mut greys = vec![0; width * height];
            greys[width * above..][..width * rows].copy_from_slice(take(width * rows)?);
            glyphs.push(Glyph { character, width, greys });
        }
        let characters = Characters { id: new_id(), height, glyphs, advances };
        if bytes.is_empty() { Ok(Self(Arc::new(characters))) } else { Err(StrikeError) }
    }

    /// The same characters so many times as large. Their outlines are made steeper as well, so that they look
    /// drawn at that size.
    #[must_use]
    pub fn enlarged(&self, times: usize) -> Self {
        let Characters { height, glyphs, advances, .. } = &*self.0;
        Self(Arc::new(Characters {
            id: new_id(),
            height: height * times,
            glyphs: glyphs.iter().map(|glyph| glyph.enlarged(*height, times)).collect(),
            advances: advances.iter().map(|advance| advance.saturating_mul(times as u16)).collect(),
        }))
    }

    /// The label of a text, unless it is long or has a zero in it, which labels are filled up with.
    pub(crate) fn label(&self, text: &str) -> Option<Label> {
        let mut bytes = [0; Label::LONGEST];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        (!text.contains('\0')).then_some(Label { strike: self.0.id, bytes })
    }

    /// The size of a text's picture.
    pub(crate) fn size(&self, text: &str) -> Size {
        let width = self.pens(text).map(|(pen, glyph)| pen + glyph.width).max().unwrap_or(0);
        Size::new(width, self.0.height)
    }

    /// The picture of `text`, row by row, in place of what is in `greys`.
    pub(crate) fn render(&self, text: &str, greys: &mut Vec<u8>) {
        let Size { width, height } = self.size(text);
        greys.clear();
        greys.resize(width * height, 0);
        for (pen, glyph) in self.pens(text) {
            for (line, ink) in greys.chunks_exact_mut(width).zip(glyph.greys.chunks_exact(glyph.width)) {
                for (grey, &ink) in line[pen..].iter_mut().zip(ink) {
                    *grey = (*grey).max(ink);
                }
            }
        }
    }

    /// Each known character of the text and the column it starts at.
    fn pens<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, &'a Glyph)> {
        let Characters { glyphs, advances, .. } = &*self.0;
        let known = move |byte| glyphs.iter().position(|glyph| glyph.character == byte);
        text.bytes().filter_map(known).scan((0, None), move |(pen, previous), index| {
            if let Some(previous) = previous.replace(index) {
                *pen += usize::from(advances[previous * glyphs.len() + index]);
            }
            Some((*pen / 64, &glyphs[index]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two characters, two rows high: `a` is two pixels wide, `b` one; `ab` stands 1.5 pixels apart.
    const TINY: &[u8] =
        b"STR1\x02\x02\x80\x00\x60\x00\x40\x00\x40\x00a\x02\x01\x01\x09\x08b\x01\x00\x02\x05\x06";

    #[test]
    fn characters_stand_at_their_advances_and_the_brighter_pixel_wins() {
        let strike = Strike::parse(TINY).unwrap();
        let mut greys = vec![7; 9];
        assert_eq!(strike.size("a?b"), Size::new(2, 2));
        strike.render("a?b", &mut greys);
        assert_eq!(greys, [0, 5, 9, 8]);
        assert_eq!(strike.size(""), Size::new(0, 2));
        strike.render("", &mut greys);
        assert!(greys.is_empty());
    }

    #[test]
    fn an_enlarged_strike_writes_the_same_text_larger() {
        let strike = Strike::parse(TINY).unwrap();
        // Three times 1.5 pixels apart, which are cut after and not before.
        assert_eq!(strike.enlarged(3).size("ab"), Size::new(4 + 3, 3 * 2));
        let (mut same, mut greys) = (vec![], vec![]);
        strike.enlarged(1).render("ab", &mut same);
        strike.render("ab", &mut greys);
        assert_eq!(same, greys);
        assert_ne!(strike.enlarged(1).label("a"), strike.label("a"));
    }

    #[test]
    fn a_strike_cut_short_or_with_more_behind_it_is_refused() {
        for end in 0..TINY.len() {
            assert!(Strike::parse(&TINY[..end]).is_err());
        }
        assert!(Strike::parse(&[TINY, b"x"].concat()).is_err());
    }
}
