//! The colours of a race, fixed or drawn at random, as `CarRacing._init_colors` has them.

use reinfors_core::rng::Pcg64;
use serde::{Deserialize, Serialize};

/// Red, green and blue in `0.0..256.0`. The reference keeps fractions and drops them when it draws.
pub type Colour = [f64; 3];

/// The colours that domain randomisation changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Colours {
    /// Road, before the shade of each tile is added.
    pub road: Colour,
    /// Playfield.
    pub background: Colour,
    /// Patches of grass on the playfield.
    pub grass: Colour,
}

impl Default for Colours {
    fn default() -> Self {
        Self { road: [102.0, 102.0, 102.0], background: [102.0, 204.0, 102.0], grass: [102.0, 230.0, 102.0] }
    }
}

impl Colours {
    /// Draws road and background, and a channel in which the grass is 20 brighter than the background.
    pub fn random(rng: &mut Pcg64) -> Self {
        let mut colour = || std::array::from_fn(|_| rng.uniform(0.0, 210.0));
        let (road, background) = (colour(), colour());
        let mut grass: Colour = background;
        grass[rng.integers(3) as usize] += 20.0;
        Self { road, background, grass }
    }

    /// The colour in which tile `index` of the track begins: three shades in turn (`t.color` of
    /// `_create_track`). A tile that was touched has the plain colour of the road.
    pub fn fresh_tile(&self, index: usize) -> Colour {
        let shade = 0.01 * (index % 3) as f64 * 255.0;
        self.road.map(|channel| channel + shade)
    }
}

/// The colour as it is drawn: fractions are dropped.
pub fn drawn(colour: Colour) -> [u8; 3] {
    colour.map(|channel| channel as u8)
}
