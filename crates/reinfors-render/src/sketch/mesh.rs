//! Smooth polygons as exact outlines: what `gfxdraw` paints is a little larger than the polygon, and shapes
//! that meet share an edge that belongs to the later one.
//!
//! 1. A pixel is painted where its own corner lies in the polygon, so that outlines lie half a pixel further
//!    along both axes. Rounding spans outward and the soft fringe widen them: by [`dilation`], on average
//!    over an edge.
//! 2. A corner lies where its moved edges meet. Polygons that share an edge share its corners, so that outlines
//!    close; only where three disagree does a short piece join two.

use super::coverage::{COLOURED, Coverage, Ink, Lines};
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
    Earlier { face: usize, edge: usize },
    /// A later polygon, which draws the edge.
    Later,
}

/// A polygon of the layer: where its edges end, its ink and which way it turns.
#[derive(Clone, Copy, Debug)]
struct Face {
    end: usize,
    ink: [f32; 3],
    /// +1 if the corners turn to the right on the surface (down is positive), -1 if to the left.
    turn: f32,
}

/// From surface pixels to cells, upside down or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub scale: [f32; 2],
    /// The surface's height if its rows are to be reversed.
    pub flipped: Option<f32>,
}

impl Grid {
    #[inline(always)]
    fn cell(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let y = if let Some(height) = self.flipped { height - y } else { y };
        [x * self.scale[0], y * self.scale[1]]
    }
}

/// A layer of polygons that meet edge to edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Mesh {
    faces: Vec<Face>,
    /// Where edges start and end, in surface pixels: the pixel that a corner is in.
    corners: Vec<[Point; 2]>,
    sides: Vec<Side>,
    keys: Vec<Key>,
    /// Which way each edge is moved: +1 for outward of a polygon whose corners turn right.
    outward: Vec<f32>,
    /// How far each edge is moved, along both axes.
    moves: [Vec<f32>; 2],
    /// Where moved edges start and end.
    ends: Vec<[[f32; 2]; 2]>,
    lines: Lines,
    inks: Vec<Ink<COLOURED>>,
}

impl Mesh {
    /// Forgets the polygons.
    pub fn clear(&mut self) {
        self.faces.clear();
        self.corners.clear();
        self.sides.clear();
        self.keys.clear();
    }

    /// Adds a polygon in surface pixels.
    #[inline(always)]
    pub fn push(&mut self, points: &[Point], ink: [f32; 3]) {
        let start = self.corners.len();
        let recent = self.faces.len().saturating_sub(REACH);
        let oldest = if recent == 0 { 0 } else { self.faces[recent - 1].end };
        let mut area = 0;
        let mut previous = points[points.len() - 1];
        for &point in points {
            let (a, b) = (packed(previous), packed(point));
            let key = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
            area += i64::from(previous.x) * i64::from(point.y) - i64::from(point.x) * i64::from(previous.y);
            let side = self.side(key, oldest..start);
            self.corners.push([previous, point]);
            self.sides.push(side);
            self.keys.push(key);
            previous = point;
        }
        self.faces.push(Face { end: self.corners.len(), ink, turn: if area < 0 { -1.0 } else { 1.0 } });
    }

    /// What lies beyond an edge. Most have nothing there, which is found out for all of `recent` at once.
    #[inline(always)]
    fn side(&mut self, key: Key, recent: Range<usize>) -> Side {
        let keys = &self.keys[recent.clone()];
        let mut is_known = false;
        for &other in keys {
            is_known |= other == key;
        }
        if !is_known {
            return Side::Open;
        }
        let neighbour = keys.iter().position(|&other| other == key);
        neighbour.map_or(Side::Open, |at| self.take(recent.start + at))
    }

    /// Takes over an earlier polygon's edge, unless another did before.
    #[inline(always)]
    fn take(&mut self, edge: usize) -> Side {
        if self.sides[edge] != Side::Open {
            return Side::Open;
        }
        self.sides[edge] = Side::Later;
        Side::Earlier { face: self.faces.partition_point(|face| face.end <= edge), edge }
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
        let Self { faces, corners, sides, outward, moves, ends, lines, inks, .. } = self;
        outward.clear();
        for face in &*faces {
            let sides = &sides[outward.len()..face.end];
            outward
                .extend(sides.iter().map(|side| if *side == Side::Later { -face.turn } else { face.turn }));
        }
        moves.iter_mut().for_each(|moves| moves.resize(corners.len(), 0.0));
        offset(corners, outward, moves);
        ends.clear();
        ends.resize(corners.len(), [[0.0; 2]; 2]);
        lines.clear();
        inks.clear();
        let mut first = 0;
        for face in &*faces {
            let sign = if grid.flipped.is_some() { -face.turn } else { face.turn };
            let mut before = face.end - 1;
            for edge in first..face.end {
                let vertex = corners[edge][0];
                let shared = |edge: usize| match sides[edge] {
                    Side::Earlier { edge, .. } => Some(ends[edge][usize::from(corners[edge][1] == vertex)]),
                    _ => None,
                };
                let (there, here) = match (shared(before), shared(edge)) {
                    (Some(there), Some(here)) => (there, here),
                    (Some(point), None) | (None, Some(point)) => (point, point),
                    (None, None) => {
                        let by = |edge: usize| [moves[0][edge], moves[1][edge]];
                        let point = meeting(corners[before], by(before), corners[edge], by(edge));
                        (point, point)
                    }
                };
                (ends[before][1], ends[edge][0]) = (there, here);
                if there != here {
                    lines.push(grid.cell(there), grid.cell(here));
                    inks.push(signed(face.ink, 1.0, sign));
                }
                before = edge;
            }
            for edge in first..face.end {
                let ink = match sides[edge] {
                    Side::Open => signed(face.ink, 1.0, sign),
                    Side::Later => continue,
                    Side::Earlier { face: other, .. } => {
                        let beyond = faces[other].ink;
                        signed(std::array::from_fn(|part| face.ink[part] - beyond[part]), 0.0, sign)
                    }
                };
                if ink != [0.0; COLOURED] {
                    lines.push(grid.cell(ends[edge][0]), grid.cell(ends[edge][1]));
                    inks.push(ink);
                }
            }
            first = face.end;
        }
        coverage.add(lines, inks);
    }
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

/// How far the painted outlines of edges lie from the edges, in pixels: along the axis that an edge crosses.
///
/// A steep edge's spans are rounded and include both ends: half a pixel. The soft pixel beyond adds an
/// eighth. A flat edge's soft pixels make it exact, half a pixel off; where spans hide them, `slope^2 / 8` is
/// added.
#[inline(always)]
fn offset(corners: &[[Point; 2]], outward: &[f32], moves: &mut [Vec<f32>; 2]) {
    let count = corners.len();
    let [across, along] = moves.each_mut().map(|moves| &mut moves[..count]);
    let outward = &outward[..count];
    for (index, [from, to]) in corners.iter().enumerate() {
        (across[index], along[index]) = ((to.x - from.x) as f32, (to.y - from.y) as f32);
    }
    for index in 0..count {
        let (dx, dy) = (across[index], along[index]);
        let slope = dy / dx;
        let steep = if dx == 0.0 { 0.5 } else { 0.625 };
        let flat = 0.5 + 0.125 * slope * slope;
        let is_steep = dy.abs() > dx.abs();
        let by_x = if dy > 0.0 { steep } else { -steep };
        let by_y = if dx > 0.0 { -flat } else { flat };
        across[index] = if is_steep { by_x } else { 0.0 } * outward[index];
        along[index] = if is_steep || dx == 0.0 { 0.0 } else { by_y } * outward[index];
    }
}

/// Where two moved edges of a polygon meet, in pixels: the polygon's own corner at a pixel is in the pixel's
/// middle. Edges that hardly meet are joined halfway.
#[inline(always)]
fn meeting([from, at]: [Point; 2], by: [f32; 2], [_, to]: [Point; 2], then: [f32; 2]) -> [f32; 2] {
    /// The most pixels that a corner moves along an edge.
    const REACH: f32 = 2.0;
    let middle = [at.x as f32 + 0.5, at.y as f32 + 0.5];
    let (dx, dy) = ((at.x - from.x) as f32, (at.y - from.y) as f32);
    let (next_x, next_y) = ((to.x - at.x) as f32, (to.y - at.y) as f32);
    let apart = [then[0] - by[0], then[1] - by[1]];
    let turn = dx * next_y - dy * next_x;
    let share = (apart[0] * next_y - apart[1] * next_x) / turn;
    let moved = [share * dx, share * dy];
    if moved[0].abs() <= REACH && moved[1].abs() <= REACH {
        [middle[0] + by[0] + moved[0], middle[1] + by[1] + moved[1]]
    } else {
        [middle[0] + 0.5 * (by[0] + then[0]), middle[1] + 0.5 * (by[1] + then[1])]
    }
}
