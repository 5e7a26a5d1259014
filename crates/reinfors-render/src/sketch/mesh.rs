//! Smooth polygons as exact outlines: what `gfxdraw` paints is a little larger than the polygon, and shapes
//! that meet share an edge that belongs to the later one.
//!
//! 1. A pixel is painted where its own corner lies in the polygon, so that outlines lie half a pixel further
//!    along both axes. Rounding spans outward and the soft fringe widen them: by [`dilation`], on average
//!    over an edge.
//! 2. The offset edges of a polygon are joined at its corners by short straight pieces.

use super::coverage::{COLOURED, Coverage, Ink};
use crate::Point;

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

/// An edge of a polygon of the layer, in surface pixels.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: [f32; 2],
    to: [f32; 2],
    side: Side,
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
    edges: Vec<Edge>,
    keys: Vec<Key>,
}

impl Mesh {
    /// Forgets the polygons.
    pub fn clear(&mut self) {
        self.faces.clear();
        self.edges.clear();
        self.keys.clear();
    }

    /// Adds a polygon in surface pixels.
    #[inline(always)]
    pub fn push(&mut self, points: &[Point], ink: [f32; 3]) {
        let start = self.edges.len();
        let recent = self.faces.len().saturating_sub(REACH);
        let oldest = if recent == 0 { 0 } else { self.faces[recent - 1].end };
        let mut area = 0;
        let mut previous = points[points.len() - 1];
        for &point in points {
            let (a, b) = (packed(previous), packed(point));
            let key = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
            area += i64::from(previous.x) * i64::from(point.y) - i64::from(point.x) * i64::from(previous.y);
            let neighbour = self.keys[oldest..start].iter().position(|&other| other == key);
            let side = neighbour.map_or(Side::Open, |at| self.take(oldest + at));
            self.edges.push(Edge { from: centre(previous), to: centre(point), side });
            self.keys.push(key);
            previous = point;
        }
        self.faces.push(Face { end: self.edges.len(), ink, turn: if area < 0 { -1.0 } else { 1.0 } });
    }

    /// Takes over an earlier polygon's edge, unless another did before.
    #[inline(always)]
    fn take(&mut self, edge: usize) -> Side {
        if self.edges[edge].side != Side::Open {
            return Side::Open;
        }
        self.edges[edge].side = Side::Later;
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
    pub fn trace(&self, grid: Grid, coverage: &mut Coverage) {
        let mut start = 0;
        for face in &self.faces {
            let edges = &self.edges[start..face.end];
            start = face.end;
            let sign = if grid.flipped.is_some() { -face.turn } else { face.turn };
            let offset =
                |edge: &Edge| dilation(edge, if edge.side == Side::Later { -face.turn } else { face.turn });
            let last = &edges[edges.len() - 1];
            let mut joint = grid.cell(moved(last.to, offset(last)));
            for edge in edges {
                let by = offset(edge);
                let (from, to) = (grid.cell(moved(edge.from, by)), grid.cell(moved(edge.to, by)));
                let corner = signed(face.ink, 1.0, sign);
                for (from, to, ink) in [(joint, from, corner), (from, to, self.change(face, edge, sign))] {
                    coverage.edge(from, to, ink);
                }
                joint = to;
            }
        }
    }

    /// What changes across an edge, for every polygon that has it.
    #[inline(always)]
    fn change(&self, face: &Face, edge: &Edge, sign: f32) -> Ink<COLOURED> {
        match edge.side {
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

/// Where the polygon's own corner at a pixel lies: in the pixel's middle.
#[inline(always)]
fn centre(point: Point) -> [f32; 2] {
    [point.x as f32 + 0.5, point.y as f32 + 0.5]
}

/// Both coordinates in a word: SDL_gfx counts in 16 bits.
#[inline(always)]
fn packed(point: Point) -> u32 {
    u32::from(point.x as u16) << 16 | u32::from(point.y as u16)
}

#[inline(always)]
fn moved(point: [f32; 2], by: [f32; 2]) -> [f32; 2] {
    [point[0] + by[0], point[1] + by[1]]
}

/// How far the painted outline lies from an edge, along the axis that the edge crosses; `outward` is +1 if
/// the polygon's corners turn right.
///
/// A steep edge's spans are rounded and include both ends: half a pixel. The soft pixel beyond adds an
/// eighth. A flat edge's soft pixels make it exact, half a pixel off; where spans hide them, `slope^2 / 8` is
/// added.
#[inline(always)]
fn dilation(edge: &Edge, outward: f32) -> [f32; 2] {
    let (dx, dy) = (edge.to[0] - edge.from[0], edge.to[1] - edge.from[1]);
    if dy.abs() > dx.abs() {
        let by = if dx == 0.0 { 0.5 } else { 0.625 };
        [if dy > 0.0 { outward * by } else { -outward * by }, 0.0]
    } else if dx == 0.0 {
        [0.0; 2]
    } else {
        let slope = dy / dx;
        let by = 0.5 + 0.125 * slope * slope;
        [0.0, if dx > 0.0 { -outward * by } else { outward * by }]
    }
}
