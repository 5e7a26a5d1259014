//! Smooth polygons as exact outlines: what `gfxdraw` paints is a little larger than the polygon, and shapes
//! that meet share an edge that belongs to the later one.
//!
//! 1. A pixel is painted where its own corner lies in the polygon, so that outlines lie half a pixel further
//!    along both axes. Rounding spans outward and the soft fringe widen them: by [`dilation`], on average
//!    over an edge.
//! 2. A corner lies where its moved edges meet. Polygons that share an edge share its corners, so that outlines
//!    close; only where three disagree does a short piece join two.

use super::coverage::{COLOURED, Coverage, Grid, Ink, LANES, Lane, Lines};
use crate::Point;
use std::ops::Range;

/// How many polygons back a neighbour is looked for.
const REACH: usize = 4;

/// A polygon's edge, whichever way it runs: both ends, the smaller first.
type Key = u64;

/// What lies on the other side of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    /// Nothing of this layer.
    Open,
    /// An earlier polygon and its edge, by number: the edge is drawn for both.
    Earlier { face: u32, edge: u32 },
    /// A later polygon, which draws the edge.
    Later,
}

/// A polygon of the layer.
#[derive(Clone, Copy, Debug)]
struct Face {
    /// Its edges, by number.
    first: usize,
    end: usize,
    ink: [f32; 3],
    /// +1 if the corners turn to the right on the surface (down is positive), -1 if to the left.
    turn: f32,
    /// The keys of its edges as a set of their hashes, a bit to each.
    hashes: u64,
    /// Whether an earlier polygon lies beyond one of them.
    is_joined: bool,
}

/// Corners, each between an edge that ends there and the one that starts there, which has its number.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Corners {
    /// The pixel that the corner is in.
    at: [Lane; 2],
    /// How far the two edges run.
    before: [Lane; 2],
    behind: [Lane; 2],
    /// Which way each of them is moved: +1 for outward of a polygon whose corners turn right.
    outward: [Lane; 2],
    /// Where the moved edges meet, in pixels.
    meeting: [Lane; 2],
}

/// A layer of polygons that meet edge to edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Mesh {
    faces: Vec<Face>,
    /// More than there are edges.
    corners: Vec<Corners>,
    sides: Vec<Side>,
    keys: Vec<Key>,
    /// Where moved edges start and end.
    ends: Vec<[[f32; 2]; 2]>,
    lines: Lines,
}

impl Mesh {
    /// Forgets the polygons.
    pub fn clear(&mut self) {
        self.faces.clear();
        self.sides.clear();
        self.keys.clear();
    }

    /// Adds a polygon in surface pixels.
    #[inline(always)]
    pub fn push(&mut self, points: &[Point], ink: [f32; 3]) {
        let count = points.len();
        let (first, end) = (self.keys.len(), self.keys.len() + count);
        self.keys.resize(end, 0);
        self.sides.resize(end, Side::Open);
        if self.corners.len() * LANES < end {
            self.corners.resize(end.div_ceil(LANES), Corners::default());
        }
        let mut area = 0;
        let mut previous = points[count - 1];
        for &point in points {
            area += i64::from(previous.x) * i64::from(point.y) - i64::from(point.x) * i64::from(previous.y);
            previous = point;
        }
        let turn = if area < 0 { -1.0 } else { 1.0 };
        let (mut at, mut before) = (real(previous), run(real(points[count - 2]), real(previous)));
        let mut hashes = 0;
        for ((&point, key), edge) in points.iter().zip(&mut self.keys[first..]).zip(first..) {
            let (a, b) = (packed(previous), packed(point));
            *key = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
            hashes |= hash(*key);
            let next = real(point);
            let behind = run(at, next);
            let (corners, lane) = (&mut self.corners[edge / LANES], edge % LANES);
            for axis in 0..2 {
                corners.at[axis][lane] = at[axis];
                corners.before[axis][lane] = before[axis];
                corners.behind[axis][lane] = behind[axis];
                corners.outward[axis][lane] = turn;
            }
            (previous, at, before) = (point, next, behind);
        }
        let oldest = self.faces.len().saturating_sub(REACH);
        let known = self.faces[oldest..].iter().fold(0, |known, face| known | face.hashes);
        let is_joined = known & hashes != 0 && self.join(first..end, oldest, known);
        self.faces.push(Face { first, end, ink, turn, hashes, is_joined });
    }

    /// Takes over the edges that a new polygon shares with the faces from `oldest` on, of whose keys the
    /// hashes are `known`, unless another did before. Whether there are any.
    #[inline(always)]
    fn join(&mut self, edges: Range<usize>, oldest: usize, known: u64) -> bool {
        let recent = self.faces[oldest].first..edges.start;
        let mut is_joined = false;
        for edge in edges {
            let key = self.keys[edge];
            if known & hash(key) == 0 {
                continue;
            }
            // Most often it is the polygon before.
            let Some(place) = self.keys[recent.clone()].iter().rposition(|&other| other == key) else {
                continue;
            };
            let other = recent.start + place;
            if self.sides[other] != Side::Open {
                continue;
            }
            let mut number = oldest;
            while self.faces[number].end <= other {
                number += 1;
            }
            let face = &self.faces[number];
            let next = if other + 1 == face.end { face.first } else { other + 1 };
            self.corners[other / LANES].outward[1][other % LANES] = -face.turn;
            self.corners[next / LANES].outward[0][next % LANES] = -face.turn;
            self.sides[other] = Side::Later;
            self.sides[edge] = Side::Earlier { face: number as u32, edge: other as u32 };
            is_joined = true;
        }
        is_joined
    }

    /// The colour of all polygons, if they have but one.
    pub fn plain(&self) -> Option<[f32; 3]> {
        let first = self.faces.first()?.ink;
        self.faces.iter().all(|face| face.ink == first).then_some(first)
    }

    /// Whether all polygons are grey.
    pub fn is_grey(&self) -> bool {
        self.faces.iter().all(|face| face.ink[0] == face.ink[1] && face.ink[1] == face.ink[2])
    }

    /// Adds every outline to the coverage.
    #[inline(always)]
    pub fn trace(&mut self, grid: Grid, coverage: &mut Coverage) {
        let Self { faces, corners, sides, ends, lines, .. } = self;
        let count = sides.len();
        for corners in &mut corners[..count.div_ceil(LANES)] {
            corners.meet();
        }
        if ends.len() < count {
            ends.resize(count, [[0.0; 2]; 2]);
        }
        // A line for each edge, and one wherever two edges disagree about a corner.
        lines.restart(2 * count);
        for face in &*faces {
            let sign = if grid.flipped.is_some() { -face.turn } else { face.turn };
            let own = signed(face.ink, 1.0, sign);
            let mut before = face.end - 1;
            for edge in face.first..face.end {
                let (lane, block) = (edge % LANES, &corners[edge / LANES]);
                let met = [block.meeting[0][lane], block.meeting[1][lane]];
                (ends[before][1], ends[edge][0]) = (met, met);
                before = edge;
            }
            if !face.is_joined {
                for edge in face.first..face.end {
                    if sides[edge] == Side::Open {
                        lines.push(ends[edge], own);
                    }
                }
                continue;
            }
            for edge in face.first..face.end {
                let (lane, block) = (edge % LANES, &corners[edge / LANES]);
                let vertex = [block.at[0][lane], block.at[1][lane]];
                let there = shared(sides[before], vertex, corners, ends);
                let here = shared(sides[edge], vertex, corners, ends);
                let (there, here) = match (there, here) {
                    (Some(there), Some(here)) => (there, here),
                    (Some(point), None) | (None, Some(point)) => (point, point),
                    (None, None) => (ends[before][1], ends[edge][0]),
                };
                (ends[before][1], ends[edge][0]) = (there, here);
                if there != here {
                    lines.push([there, here], own);
                }
                before = edge;
            }
            for edge in face.first..face.end {
                let ink = match sides[edge] {
                    Side::Open => own,
                    Side::Later => continue,
                    Side::Earlier { face: other, .. } => {
                        let beyond = faces[other as usize].ink;
                        let [red, green, blue] = face.ink;
                        signed([red - beyond[0], green - beyond[1], blue - beyond[2]], 0.0, sign)
                    }
                };
                if ink != [0.0; COLOURED] {
                    lines.push(ends[edge], ink);
                }
            }
        }
        coverage.add(lines, grid);
    }
}

/// Where the edge on the other side has a corner, if that polygon came earlier.
#[inline(always)]
fn shared(side: Side, vertex: [f32; 2], corners: &[Corners], ends: &[[[f32; 2]; 2]]) -> Option<[f32; 2]> {
    let Side::Earlier { edge, .. } = side else { return None };
    let edge = edge as usize;
    let (lane, block) = (edge % LANES, &corners[edge / LANES]);
    let end = [block.at[0][lane] + block.behind[0][lane], block.at[1][lane] + block.behind[1][lane]];
    Some(ends[edge][usize::from(end == vertex)])
}

/// A bit of 64 that stands for a key.
#[inline(always)]
fn hash(key: Key) -> u64 {
    1 << (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

#[inline(always)]
fn real(point: Point) -> [f32; 2] {
    [point.x as f32, point.y as f32]
}

/// How far it is from one point to another.
#[inline(always)]
fn run(from: [f32; 2], to: [f32; 2]) -> [f32; 2] {
    [to[0] - from[0], to[1] - from[1]]
}

/// The ink of a unit of area: coverage first.
#[inline(always)]
fn signed([red, green, blue]: [f32; 3], cover: f32, sign: f32) -> Ink<COLOURED> {
    [cover * sign, red * sign, green * sign, blue * sign]
}

/// Both coordinates in a word: SDL_gfx counts in 16 bits.
#[inline(always)]
fn packed(point: Point) -> u32 {
    u32::from(point.x as u16) << 16 | u32::from(point.y as u16)
}

impl Corners {
    /// Finds where the moved edges of each corner meet: the polygon's own corner at a pixel is in the pixel's
    /// middle. Edges that hardly meet are joined halfway.
    #[inline(always)]
    fn meet(&mut self) {
        /// The most pixels that a corner moves along an edge.
        const REACH: f32 = 2.0;
        let Self { at: [xs, ys], before: [dxs, dys], behind: [next_dxs, next_dys], outward, meeting } = self;
        let [met_xs, met_ys] = meeting;
        for lane in 0..LANES {
            let (dx, dy, next_x, next_y) = (dxs[lane], dys[lane], next_dxs[lane], next_dys[lane]);
            let by = offset(dx, dy, outward[0][lane]);
            let then = offset(next_x, next_y, outward[1][lane]);
            let middle = [xs[lane] + 0.5, ys[lane] + 0.5];
            let apart = [then[0] - by[0], then[1] - by[1]];
            let turn = dx * next_y - dy * next_x;
            let share = (apart[0] * next_y - apart[1] * next_x) / turn;
            let moved = [share * dx, share * dy];
            let meets = (moved[0].abs() <= REACH) & (moved[1].abs() <= REACH);
            let x = [middle[0] + by[0] + moved[0], middle[0] + 0.5 * (by[0] + then[0])];
            let y = [middle[1] + by[1] + moved[1], middle[1] + 0.5 * (by[1] + then[1])];
            met_xs[lane] = if meets { x[0] } else { x[1] };
            met_ys[lane] = if meets { y[0] } else { y[1] };
        }
    }
}

/// How far the painted outline of an edge lies from the edge, in pixels: along the axis that it crosses.
///
/// A steep edge's spans are rounded and include both ends: half a pixel. The soft pixel beyond adds an
/// eighth. A flat edge's soft pixels make it exact, half a pixel off; where spans hide them, `slope^2 / 8` is
/// added.
#[inline(always)]
fn offset(dx: f32, dy: f32, outward: f32) -> [f32; 2] {
    let slope = dy / dx;
    let steep = if dx == 0.0 { 0.5 } else { 0.625 };
    let flat = 0.5 + 0.125 * slope * slope;
    let is_steep = dy.abs() > dx.abs();
    let by_x = if dy > 0.0 { steep } else { -steep };
    let by_y = if dx > 0.0 { -flat } else { flat };
    let across = if is_steep { by_x } else { 0.0 } * outward;
    let along = if is_steep | (dx == 0.0) { 0.0 } else { by_y } * outward;
    [across, along]
}
