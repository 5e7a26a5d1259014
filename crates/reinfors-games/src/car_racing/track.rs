//! The track: a closed path, the road quads along it and the kerbs at its sharp bends, in double precision as
//! the reference computes them (`CarRacing._create_track`).
//!
//! Everything follows from the path's points, so a saved track holds the points only. Sines and cosines come
//! from `reinfors_math::trig`: they may differ from the reference's in the last bit, the corners by less than
//! 1e-12 metres, which vanishes where the quads are rounded to the single precision tiles of the physics.

mod path;
pub mod stretch;

use std::sync::Arc;

use reinfors_core::rng::Pcg64;
use reinfors_math::trig;
use serde::{Deserialize, Serialize};

use super::tile::TileMap;
pub use path::PathPoint;
pub use stretch::{Bounds, STRETCH};

/// `SCALE` of the reference: its lengths are given in units of a sixth of a metre.
const SCALE: f64 = 6.0;
/// `TRACK_WIDTH`: from the path to either edge of the road.
const WIDTH: f64 = 40.0 / SCALE;
/// `BORDER`: width of a kerb.
const KERB_WIDTH: f64 = 8.0 / SCALE;
/// `BORDER_MIN_COUNT`: how many points in a row must bend to one side for a kerb.
const KERB_POINTS: usize = 4;
/// `TRACK_TURN_RATE`: the most the path turns at a point, radians.
const TURN_RATE: f64 = 0.31;
/// `PLAYFIELD`: a car farther than this from the origin in `x` or `y` has left the playfield, metres.
pub const PLAYFIELD: f64 = 2000.0 / SCALE;

/// The corners of a quadrilateral in world coordinates, metres.
pub type Quad = [[f64; 2]; 4];

/// What a quad of the road is. Each carries the index of its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A tile: left and right at the tile's point, right and left at the point before.
    Tile(usize),
    /// A kerb along a tile: inner and outer at the tile's point, outer and inner at the point before. Kerbs
    /// of even tiles are white, of odd ones red.
    Kerb(usize),
}

/// A closed track, which never changes once generated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Generated", into = "Generated")]
pub struct Track {
    points: Vec<PathPoint>,
    stretches_of_points: Vec<Bounds>,
    attempts: u32,
    quads: Vec<Quad>,
    stretches: Vec<Bounds>,
    parts: Vec<Part>,
    quad_of_tile: Vec<u32>,
    tiles: TileMap,
}

/// What a saved track consists of.
#[derive(Serialize, Deserialize)]
struct Generated {
    points: Vec<PathPoint>,
    attempts: u32,
}

impl Track {
    /// Draws paths until one closes.
    pub fn generate(rng: &mut Pcg64) -> Self {
        let mut attempts = 1;
        loop {
            if let Some(points) = path::attempt(rng) {
                return Generated { points, attempts }.into();
            }
            attempts += 1;
        }
    }

    /// The points of the path; tile `i` reaches from point `i` back to the one before.
    pub fn points(&self) -> &[PathPoint] {
        &self.points
    }

    /// Index of the path's point nearest to `position`, the first of equals; `None` without a track.
    pub fn nearest(&self, position: [f64; 2]) -> Option<usize> {
        stretch::nearest(&self.points, &self.stretches_of_points, position)
    }

    /// How many paths were drawn until one closed.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The road in drawing order: each tile, followed by its kerb if it has one.
    pub fn quads(&self) -> &[Quad] {
        &self.quads
    }

    /// The box around each [`STRETCH`] of quads.
    pub fn stretches(&self) -> &[Bounds] {
        &self.stretches
    }

    /// What each of the quads is.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Where among the quads tile `index` is.
    pub fn quad_of_tile(&self, index: usize) -> usize {
        self.quad_of_tile[index] as usize
    }

    /// The road as the physics sees it.
    pub fn tiles(&self) -> &TileMap {
        &self.tiles
    }
}

/// A track with the random stream before and after it.
#[derive(Clone)]
pub struct Laid {
    before: Pcg64,
    after: Pcg64,
    track: Arc<Track>,
}

impl Laid {
    /// Draws the track that comes next in a stream.
    pub fn new(before: Pcg64) -> Self {
        let mut after = before.clone();
        let track = Arc::new(Track::generate(&mut after));
        Self { before, after, track }
    }

    /// Whether it is what a stream that stands here draws.
    pub fn is_from(&self, rng: &Pcg64) -> bool {
        self.before == *rng
    }

    /// The track, and the stream behind it.
    pub fn take(self) -> (Arc<Track>, Pcg64) {
        (self.track, self.after)
    }
}

impl From<Generated> for Track {
    fn from(Generated { points, attempts }: Generated) -> Self {
        let edges: Vec<Edge> = points.iter().map(Edge::at).collect();
        let kerbed = kerbed(&points);
        let mut track = Self { attempts, ..Self::default() };
        let mut road = Vec::with_capacity(points.len());
        for tile in 0..points.len() {
            let before = (tile + points.len() - 1) % points.len();
            let quad = |near, far| {
                let (here, there) = (&edges[tile], &edges[before]);
                [here.offset(near), here.offset(far), there.offset(far), there.offset(near)]
            };
            road.push(quad(-WIDTH, WIDTH));
            track.quad_of_tile.push(track.quads.len() as u32);
            track.quads.push(quad(-WIDTH, WIDTH));
            track.parts.push(Part::Tile(tile));
            if kerbed[tile] {
                let side = sign(points[before].beta - points[tile].beta);
                track.quads.push(quad(side * WIDTH, side * (WIDTH + KERB_WIDTH)));
                track.parts.push(Part::Kerb(tile));
            }
        }
        track.stretches = stretch::of_quads(&track.quads);
        track.tiles = TileMap::new(&road);
        track.stretches_of_points = stretch::of_points(&points);
        track.points = points;
        track
    }
}

impl From<Track> for Generated {
    fn from(track: Track) -> Self {
        Self { points: track.points, attempts: track.attempts }
    }
}

/// A point of the path with the direction across the road.
struct Edge {
    point: [f64; 2],
    across: [f64; 2],
}

impl Edge {
    fn at(point: &PathPoint) -> Self {
        Self { point: [point.x, point.y], across: [trig::cos(point.beta), trig::sin(point.beta)] }
    }

    /// The point that lies `distance` to the right of the path.
    fn offset(&self, distance: f64) -> [f64; 2] {
        std::array::from_fn(|axis| self.point[axis] + distance * self.across[axis])
    }
}

/// Which tiles have a kerb: where the last four points bend sharply to one side, and the three tiles before.
fn kerbed(points: &[PathPoint]) -> Vec<bool> {
    let count = points.len();
    let back = |index: usize, steps: usize| (index + count - steps % count) % count;
    let mut kerbed: Vec<bool> = (0..count)
        .map(|i| {
            let turn = |steps| points[back(i, steps)].beta - points[back(i, steps + 1)].beta;
            let sharp = (0..KERB_POINTS).all(|steps| turn(steps).abs() > TURN_RATE * 0.2);
            let to_one_side: f64 = (0..KERB_POINTS).map(|steps| sign(turn(steps))).sum();
            sharp && to_one_side.abs() == KERB_POINTS as f64
        })
        .collect();
    // In place and in order, as the reference: across the start, a kerb spreads further than three tiles.
    for i in 0..count {
        for steps in 0..KERB_POINTS {
            kerbed[back(i, steps)] |= kerbed[i];
        }
    }
    kerbed
}

/// NumPy's `sign`: zero for zero, unlike `f64::signum`.
pub(super) fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use reinfors_core::rng::{Pcg64, Seed};

    use super::{Generated, Part, Track};

    fn track(seed: u64) -> Track {
        Track::generate(&mut Pcg64::from(&Seed::from(seed)))
    }

    #[test]
    fn tracks_have_as_many_tiles_as_the_reference() {
        let tiles = [0, 1, 42, 7, 8].map(|seed| track(seed).points().len());
        assert_eq!(tiles, [319, 275, 283, 319, 251]);
    }

    #[test]
    fn consecutive_tiles_share_an_edge_and_kerbs_follow_their_tiles() {
        let track = track(3);
        let tiles: Vec<_> = track
            .parts()
            .iter()
            .zip(track.quads())
            .filter_map(|(part, quad)| matches!(part, Part::Tile(_)).then_some(quad))
            .collect();
        assert_eq!(tiles.len(), track.points().len());
        for (index, quad) in tiles.iter().enumerate() {
            let before = tiles[(index + tiles.len() - 1) % tiles.len()];
            assert_eq!([quad[2], quad[3]], [before[1], before[0]]);
        }
        let kerbs = track.parts().windows(2).filter(|pair| matches!(pair[1], Part::Kerb(_)));
        assert!(kerbs.clone().count() > 0);
        for pair in kerbs {
            assert!(matches!(*pair, [Part::Tile(tile), Part::Kerb(kerb)] if tile == kerb));
        }
    }

    #[test]
    fn a_saved_track_is_the_same_track() {
        let track = track(4);
        assert_eq!(Track::from(Generated::from(track.clone())), track);
    }
}
