//! Smooth polygons as exact outlines: what `gfxdraw` paints is a little larger than the polygon, and shapes
//! that meet share an edge that belongs to the later one.
//!
//! 1. A pixel is painted where its own corner lies in the polygon, so that outlines lie half a pixel further
//!    along both axes. Rounding spans outward and the soft fringe widen them: by [`dilation`], on average
//!    over an edge.
//! 2. The offset edges of a polygon are joined at its corners by short straight pieces.

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
    /// An earlier polygon, by number: the edge is drawn for both.
    Earlier(usize),
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
    /// Outlines, then the joints between an edge and the one before.
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
        Side::Earlier(self.faces.partition_point(|face| face.end <= edge))
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
        let Self { faces, corners, sides, outward, lines, .. } = self;
        outward.clear();
        for face in &*faces {
            let sides = &sides[outward.len()..face.end];
            outward
                .extend(sides.iter().map(|side| if *side == Side::Later { -face.turn } else { face.turn }));
        }
        let count = corners.len();
        lines.clear();
        let ends = lines.resize(2 * count);
        place(grid, corners, outward, ends.map(|numbers| &mut numbers[..count]));
        // The joints: from the end of the edge before.
        let ends = lines.resize(2 * count);
        let mut start = 0;
        for face in &*faces {
            let mut before = face.end - 1;
            for edge in start..face.end {
                for axis in 0..2 {
                    ends[axis][count + edge] = ends[axis + 2][before];
                    ends[axis + 2][count + edge] = ends[axis][edge];
                }
                before = edge;
            }
            start = face.end;
        }
        let mut inks = std::mem::take(&mut self.inks);
        inks.clear();
        inks.resize(2 * count, [0.0; COLOURED]);
        let mut start = 0;
        for face in &self.faces {
            let sign = if grid.flipped.is_some() { -face.turn } else { face.turn };
            for edge in start..face.end {
                inks[edge] = self.change(face, self.sides[edge], sign);
                inks[count + edge] = signed(face.ink, 1.0, sign);
            }
            start = face.end;
        }
        coverage.add(&mut self.lines, |index| inks[index]);
        self.inks = inks;
    }

    /// What changes across an edge, for every polygon that has it.
    #[inline(always)]
    fn change(&self, face: &Face, side: Side, sign: f32) -> Ink<COLOURED> {
        match side {
            Side::Open => signed(face.ink, 1.0, sign),
            Side::Later => [0.0; COLOURED],
            Side::Earlier(other) => {
                let beyond = self.faces[other].ink;
                signed(std::array::from_fn(|part| face.ink[part] - beyond[part]), 0.0, sign)
            }
        }
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

/// Where the painted outlines of edges lie, in cells: the polygon's own corner at a pixel is in the pixel's
/// middle, and from there an edge is moved along the axis that it crosses.
///
/// A steep edge's spans are rounded and include both ends: half a pixel. The soft pixel beyond adds an
/// eighth. A flat edge's soft pixels make it exact, half a pixel off; where spans hide them, `slope^2 / 8` is
/// added.
#[inline(always)]
fn place(grid: Grid, corners: &[[Point; 2]], outward: &[f32], ends: [&mut [f32]; 4]) {
    let count = corners.len();
    let [xs, ys, far_xs, far_ys] = ends.map(|numbers| &mut numbers[..count]);
    for (index, [from, to]) in corners.iter().enumerate() {
        (xs[index], ys[index]) = (from.x as f32 + 0.5, from.y as f32 + 0.5);
        (far_xs[index], far_ys[index]) = (to.x as f32 + 0.5, to.y as f32 + 0.5);
    }
    let [scale_x, scale_y] = grid.scale;
    let (height, down) = if let Some(height) = grid.flipped { (height, -1.0) } else { (0.0, 1.0) };
    let outward = &outward[..count];
    for index in 0..count {
        let (dx, dy) = (far_xs[index] - xs[index], far_ys[index] - ys[index]);
        let slope = dy / dx;
        let steep = if dx == 0.0 { 0.5 } else { 0.625 };
        let flat = 0.5 + 0.125 * slope * slope;
        let is_steep = dy.abs() > dx.abs();
        let across = if dy > 0.0 { steep } else { -steep };
        let along = if dx > 0.0 { -flat } else { flat };
        let by_x = if is_steep { across } else { 0.0 } * outward[index];
        let by_y = if is_steep || dx == 0.0 { 0.0 } else { along } * outward[index];
        xs[index] = (xs[index] + by_x) * scale_x;
        far_xs[index] = (far_xs[index] + by_x) * scale_x;
        ys[index] = (height + down * (ys[index] + by_y)) * scale_y;
        far_ys[index] = (height + down * (far_ys[index] + by_y)) * scale_y;
    }
}
