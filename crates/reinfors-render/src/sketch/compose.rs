//! Layers of areas laid over the canvas, all at once: a cell is mixed in single precision and becomes bytes
//! once.
//!
//! Row by row. On one ground, a block without an edge is what the block above is.

use super::blocks::{BLOCK, rounded};
use super::coverage::{COLOURED, Cells, Coverage, GREY, LAYERS, Layer, PLAIN};
use crate::canvas::Canvas;
use reinfors_math::cpu::{Kernel, Level};

/// A layer's coverage, red, green and blue in a block.
type Areas = [Cells; COLOURED];

/// What the layers amount to in the block of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    layers: [Areas; LAYERS],
    /// Whether edges of each have changed a block above.
    begun: [u32; LAYERS],
}

impl Coverage {
    /// Lays the layers over the ground, which has one colour until it is drawn, or else over what the canvas
    /// shows, and forgets them.
    pub fn compose(&mut self, level: Level, ground: &mut Option<[f32; 3]>, canvas: &mut Canvas) {
        if let Some(ground) = ground.take() {
            level.run(Compose::<true> { coverage: self, ground, canvas });
        } else if self.count > 0 {
            level.run(Compose::<false> { coverage: self, ground: [0.0; 3], canvas });
        }
        self.count = 0;
    }
}

/// Layers over a ground of one colour, or over the canvas.
struct Compose<'a, 'b, const IS_GROUND: bool> {
    coverage: &'a mut Coverage,
    ground: [f32; 3],
    canvas: &'a mut Canvas<'b>,
}

impl<const IS_GROUND: bool> Kernel for Compose<'_, '_, IS_GROUND> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { coverage, ground, canvas } = self;
        let Coverage { columns, rows, height, layers: [lower, upper], sums, .. } = coverage;
        let (rows, height, ground) = (*rows, *height, splat(ground));
        sums.clear();
        sums.resize(*columns, Sums::default());
        if IS_GROUND {
            canvas.fill_row(0, &bytes(&ground));
        }
        for row in 0..rows {
            if IS_GROUND && row > 0 && row < height {
                canvas.repeat_row(row);
            }
            let below = std::mem::take(&mut lower.touched[row]);
            let above = std::mem::take(&mut upper.touched[row]);
            for (word, (below, above)) in below.into_iter().zip(above).enumerate() {
                let mut marks = below | above;
                while marks != 0 {
                    let bit = marks.trailing_zeros();
                    marks &= marks - 1;
                    let block = 64 * word + bit as usize;
                    let Sums { layers: [lower_sums, upper_sums], begun } = &mut sums[block];
                    if below >> bit & 1 != 0 {
                        lower.take(block * rows + row, lower_sums);
                        begun[0] = 1;
                    }
                    if above >> bit & 1 != 0 {
                        upper.take(block * rows + row, upper_sums);
                        begun[1] = 1;
                    }
                    if IS_GROUND && row < height {
                        let mut colours = ground;
                        if begun[0] != 0 {
                            colours = lower.over(colours, lower_sums);
                        }
                        if begun[1] != 0 {
                            colours = upper.over(colours, upper_sums);
                        }
                        canvas.store(row, block, &bytes(&colours));
                    }
                }
            }
            if !IS_GROUND && row < height {
                for (block, sums) in sums.iter().enumerate().filter(|(_, sums)| sums.begun != [0, 0]) {
                    let below = canvas.load(row, block).map(Cells);
                    let colours = upper.over(lower.over(below, &sums.layers[0]), &sums.layers[1]);
                    canvas.store(row, block, &bytes(&colours));
                }
            }
        }
    }
}

impl Layer {
    /// Adds what changes at a block to the sums of the blocks above, and forgets it.
    #[inline(always)]
    fn take(&mut self, block: usize, sums: &mut Areas) {
        match self.parts {
            PLAIN => self.take_parts::<PLAIN>(block, sums),
            GREY => self.take_parts::<GREY>(block, sums),
            _ => self.take_parts::<COLOURED>(block, sums),
        }
    }

    #[inline(always)]
    fn take_parts<const PARTS: usize>(&mut self, block: usize, sums: &mut Areas) {
        let cells = &mut self.blocks[block * PARTS..][..PARTS];
        for (sum, change) in sums.iter_mut().zip(cells) {
            *sum = added(*sum, std::mem::take(change));
        }
    }

    /// What is below, under what covers it: the mean ink where areas overlap.
    #[inline(always)]
    fn over(&self, [red, green, blue]: [Cells; 3], [cover, inks @ ..]: &Areas) -> [Cells; 3] {
        let (mut keep, mut share) = (Cells::default(), Cells::default());
        for lane in 0..BLOCK {
            let cover = cover.0[lane];
            keep.0[lane] = if cover < 1.0 { 1.0 - cover } else { 0.0 };
            share.0[lane] = 1.0 / if cover > 1.0 { cover } else { 1.0 };
        }
        match self.parts {
            PLAIN => {
                let [plain_red, plain_green, plain_blue] = self.plain;
                [
                    tinted(red, &keep, plain_red),
                    tinted(green, &keep, plain_green),
                    tinted(blue, &keep, plain_blue),
                ]
            }
            GREY => {
                let grey = inks[0];
                [
                    mixed(red, &keep, &grey, &share),
                    mixed(green, &keep, &grey, &share),
                    mixed(blue, &keep, &grey, &share),
                ]
            }
            _ => [
                mixed(red, &keep, &inks[0], &share),
                mixed(green, &keep, &inks[1], &share),
                mixed(blue, &keep, &inks[2], &share),
            ],
        }
    }
}

#[inline(always)]
fn added(mut sum: Cells, change: Cells) -> Cells {
    for lane in 0..BLOCK {
        sum.0[lane] += change.0[lane];
    }
    sum
}

/// A channel under one colour.
#[inline(always)]
fn tinted(mut below: Cells, keep: &Cells, plain: f32) -> Cells {
    for lane in 0..BLOCK {
        below.0[lane] = plain + (below.0[lane] - plain) * keep.0[lane];
    }
    below
}

/// A channel under ink that is times its area.
#[inline(always)]
fn mixed(mut below: Cells, keep: &Cells, ink: &Cells, share: &Cells) -> Cells {
    for lane in 0..BLOCK {
        below.0[lane] = below.0[lane] * keep.0[lane] + ink.0[lane] * share.0[lane];
    }
    below
}

#[inline(always)]
fn bytes(colours: &[Cells; 3]) -> [[u8; BLOCK]; 3] {
    let mut bytes = [[0; BLOCK]; 3];
    for (bytes, Cells(colours)) in bytes.iter_mut().zip(colours) {
        let integers = rounded(*colours);
        for lane in 0..BLOCK {
            bytes[lane] = integers[lane] as u8;
        }
    }
    bytes
}

#[inline(always)]
fn splat([red, green, blue]: [f32; 3]) -> [Cells; 3] {
    [Cells([red; BLOCK]), Cells([green; BLOCK]), Cells([blue; BLOCK])]
}
