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
    /// Beyond how many of them an earlier polygon lies, and beyond how many a later one.
    earlier: usize,
    later: usize,
}

/// An edge of a polygon.
#[derive(Clone, Copy, Debug)]
struct Edge {
    key: Key,
    side: Side,
    /// The edge before it whose key has the same hash: its number and one, or 0.
    before: u32,
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
    /// Where the moved edge that starts there does so, in pixels, and where it ends.
    from: [Lane; 2],
    to: [Lane; 2],
}

/// Corners of a polygon that are written together.
const FEW: usize = 4;

/// The first of the polygons that a new one may share edges with, and its first edge.
#[derive(Clone, Copy)]
struct Recent {
    oldest: usize,
    start: usize,
}

/// A layer of polygons that meet edge to edge.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    faces: Vec<Face>,
    edges: Vec<Edge>,
    /// The latest edge of each hash, as [`Edge::before`] tells it.
    latest: [u32; PLACES],
    /// More than there are edges.
    corners: Vec<Corners>,
    lines: Lines,
}

/// Hashes of keys, a power of two: several times the edges of the polygons that are looked through.
const PLACES: usize = 256;

impl Default for Mesh {
    fn default() -> Self {
        Self {
            faces: Vec::new(),
            edges: Vec::new(),
            latest: [0; PLACES],
            corners: Vec::new(),
            lines: Lines::default(),
        }
    }
}

impl Mesh {
    /// Forgets the polygons.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.faces.clear();
        self.edges.clear();
        self.latest = [0; PLACES];
    }

    /// Adds a polygon in surface pixels.
    #[inline(always)]
    pub fn push(&mut self, points: &[Point], ink: [f32; 3]) {
        let (first, count) = (self.edges.len(), points.len());
        let end = first + count;
        if self.corners.len() * LANES < end {
            self.corners.resize(end.div_ceil(LANES), Corners::default());
        }
        let oldest = self.faces.len().saturating_sub(REACH);
        let recent = Recent { oldest, start: self.faces.get(oldest).map_or(first, |face| face.first) };
        let (turn, earlier) = match (points, first % FEW) {
            (&[a, b, c, d], 0) => self.lay_four(first, [a, b, c, d], recent),
            _ => self.lay(first, points, recent),
        };
        self.faces.push(Face { first, end, ink, turn, earlier, later: 0 });
    }

    /// Adds the edges and corners of a polygon; tells which way it turns, and beyond how many of the edges an
    /// earlier one lies.
    #[inline(always)]
    fn lay(&mut self, first: usize, points: &[Point], recent: Recent) -> (f32, usize) {
        let count = points.len();
        let mut area = 0;
        let mut previous = points[count - 1];
        for &point in points {
            area += i64::from(previous.x) * i64::from(point.y) - i64::from(point.x) * i64::from(previous.y);
            previous = point;
        }
        let (turn, mut earlier) = (if area < 0 { -1.0 } else { 1.0 }, 0);
        let (mut at, mut before) = (real(previous), run(real(points[count - 2]), real(previous)));
        for (&point, edge) in points.iter().zip(first..) {
            let next = real(point);
            let behind = run(at, next);
            let (corners, lane) = (&mut self.corners[edge / LANES], edge % LANES);
            for axis in 0..2 {
                corners.at[axis][lane] = at[axis];
                corners.before[axis][lane] = before[axis];
                corners.behind[axis][lane] = behind[axis];
                corners.outward[axis][lane] = turn;
            }
            let key = key(previous, point);
            let side = self.join(key, recent);
            earlier += usize::from(side != Side::Open);
            self.edges.push(Edge { key, side, before: 0 });
            (previous, at, before) = (point, next, behind);
        }
        for edge in first..first + count {
            self.edges[edge].before = self.enlist(edge, self.edges[edge].key);
        }
        (turn, earlier)
    }

    /// The same for four corners whose lanes are half a block.
    #[inline(always)]
    fn lay_four(&mut self, first: usize, [a, b, c, d]: [Point; FEW], recent: Recent) -> (f32, usize) {
        let across = |a: Point, b: Point| [i64::from(b.x - a.x), i64::from(b.y - a.y)];
        let ([x, y], [other_x, other_y]) = (across(a, c), across(b, d));
        let turn = if x * other_y < other_x * y { -1.0 } else { 1.0 };
        let (block, half) = (&mut self.corners[first / LANES], first / FEW % 2);
        let axes = [[d.x, a.x, b.x, c.x], [d.y, a.y, b.y, c.y]];
        for (axis, lanes) in axes.into_iter().enumerate() {
            let [d, a, b, c] = lanes.map(|along| along as f32);
            let [last, ahead, second, third] = [a - d, b - a, c - b, d - c];
            block.at[axis].as_chunks_mut().0[half] = [d, a, b, c];
            block.before[axis].as_chunks_mut().0[half] = [third, last, ahead, second];
            block.behind[axis].as_chunks_mut().0[half] = [last, ahead, second, third];
            block.outward[axis].as_chunks_mut().0[half] = [turn; FEW];
        }
        let keys = [key(d, a), key(a, b), key(b, c), key(c, d)];
        let mut edges = [Edge { key: 0, side: Side::Open, before: 0 }; FEW];
        let mut earlier = 0;
        for lane in 0..FEW {
            let side = self.join(keys[lane], recent);
            earlier += usize::from(side != Side::Open);
            (edges[lane].key, edges[lane].side) = (keys[lane], side);
        }
        for lane in 0..FEW {
            edges[lane].before = self.enlist(first + lane, keys[lane]);
        }
        self.edges.extend_from_slice(&edges);
        (turn, earlier)
    }

    /// What lies beyond an edge of a new polygon: one of the last few polygons, if it has it too and no other
    /// took it over before.
    #[inline(always)]
    fn join(&mut self, key: Key, Recent { oldest, start }: Recent) -> Side {
        let mut other = self.latest[place(key)] as usize;
        while other > start {
            let Edge { key: known, side, before } = self.edges[other - 1];
            if known == key {
                if side == Side::Open {
                    return self.take_over(oldest, other - 1);
                }
                break;
            }
            other = before as usize;
        }
        Side::Open
    }

    /// Makes a number the latest edge of a hash; tells which was.
    #[inline(always)]
    fn enlist(&mut self, edge: usize, key: Key) -> u32 {
        std::mem::replace(&mut self.latest[place(key)], edge as u32 + 1)
    }

    /// Marks an edge of a face, `oldest` or a later one, as drawn by the polygon that is being added.
    #[inline(always)]
    fn take_over(&mut self, oldest: usize, edge: usize) -> Side {
        let mut number = oldest;
        while self.faces[number].end <= edge {
            number += 1;
        }
        let face = &mut self.faces[number];
        face.later += 1;
        let next = face.next(edge);
        self.corners[edge / LANES].outward[1][edge % LANES] = -face.turn;
        self.corners[next / LANES].outward[0][next % LANES] = -face.turn;
        self.edges[edge].side = Side::Later;
        Side::Earlier { face: number as u32, edge: edge as u32 }
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
        let Self { faces, edges, corners, lines, .. } = self;
        let count = edges.len();
        for corners in &mut corners[..count.div_ceil(LANES)] {
            corners.meet();
        }
        // A line for each edge, and one wherever two edges disagree about a corner.
        lines.restart(2 * count);
        for face in &*faces {
            let sign = if grid.flipped.is_some() { -face.turn } else { face.turn };
            let own = signed(face.ink, 1.0, sign);
            face.close(corners);
            if face.is_half() && face.earlier + face.later == 0 && lines.is_at_half() {
                lines.push_four(face.half(corners), own);
                continue;
            }
            let edges = &edges[face.first..face.end];
            if face.earlier > 0 {
                face.share_corners(edges, corners);
            }
            if face.earlier > 1 {
                for (edge, number) in edges.iter().zip(face.first..) {
                    let before = face.before(number);
                    if edge.is_shared() && edges[before - face.first].is_shared() {
                        let ([_, there], [here, _]) = (line(corners, before), line(corners, number));
                        if there != here {
                            lines.push([there, here], own);
                        }
                    }
                }
            }
            for (edge, number) in edges.iter().zip(face.first..) {
                let ink = match edge.side {
                    Side::Open => own,
                    Side::Later => continue,
                    Side::Earlier { face: other, .. } => {
                        let beyond = faces[other as usize].ink;
                        if beyond == face.ink {
                            continue;
                        }
                        let [red, green, blue] = face.ink;
                        signed([red - beyond[0], green - beyond[1], blue - beyond[2]], 0.0, sign)
                    }
                };
                lines.push(line(corners, number), ink);
            }
        }
        coverage.add(lines, grid);
    }
}

impl Edge {
    /// Whether an earlier polygon lies beyond it.
    #[inline(always)]
    const fn is_shared(&self) -> bool {
        matches!(self.side, Side::Earlier { .. })
    }
}

impl Face {
    /// The edge after one of its edges.
    #[inline(always)]
    fn next(&self, edge: usize) -> usize {
        if edge + 1 == self.end { self.first } else { edge + 1 }
    }

    /// The edge before one of its edges.
    #[inline(always)]
    fn before(&self, edge: usize) -> usize {
        if edge == self.first { self.end - 1 } else { edge - 1 }
    }

    /// Whether it has four edges, the lanes of half a block.
    #[inline(always)]
    fn is_half(&self) -> bool {
        self.first.is_multiple_of(FEW) && self.end - self.first == FEW
    }

    /// Where the edges of half a block start and end.
    #[inline(always)]
    fn half(&self, corners: &[Corners]) -> [[[f32; FEW]; 2]; 2] {
        let (Corners { from, to, .. }, half) = (&corners[self.first / LANES], self.first / FEW % 2);
        [from, to].map(|[xs, ys]| [xs.as_chunks::<FEW>().0[half], ys.as_chunks::<FEW>().0[half]])
    }

    /// Lets every edge end where the next one starts.
    #[inline(always)]
    fn close(&self, corners: &mut [Corners]) {
        if self.is_half() {
            let (block, half) = (&mut corners[self.first / LANES], self.first / FEW % 2);
            for axis in 0..2 {
                let [a, b, c, d] = block.from[axis].as_chunks::<FEW>().0[half];
                block.to[axis].as_chunks_mut().0[half] = [b, c, d, a];
            }
            return;
        }
        for edge in self.first..self.end {
            let [start, _] = line(corners, self.next(edge));
            set(&mut corners[edge / LANES].to, edge, start);
        }
    }

    /// Lets edges that earlier polygons have too start and end where those do, and their neighbours meet them
    /// there.
    #[inline(always)]
    fn share_corners(&self, edges: &[Edge], corners: &mut [Corners]) {
        for (edge, number) in edges.iter().zip(self.first..) {
            let Side::Earlier { edge: other, .. } = edge.side else { continue };
            let (before, next) = (self.before(number), self.next(number));
            let ends = line(corners, other as usize);
            let far = {
                let (block, lane) = (&corners[other as usize / LANES], other as usize % LANES);
                [block.at[0][lane] + block.behind[0][lane], block.at[1][lane] + block.behind[1][lane]]
            };
            let shared = |corner: usize| {
                let (block, lane) = (&corners[corner / LANES], corner % LANES);
                ends[usize::from([block.at[0][lane], block.at[1][lane]] == far)]
            };
            let (start, end) = (shared(number), shared(next));
            set(&mut corners[number / LANES].from, number, start);
            set(&mut corners[number / LANES].to, number, end);
            if !edges[before - self.first].is_shared() {
                set(&mut corners[before / LANES].to, before, start);
            }
            if !edges[next - self.first].is_shared() {
                set(&mut corners[next / LANES].from, next, end);
            }
        }
    }
}

/// Where a moved edge starts and ends.
#[inline(always)]
fn line(corners: &[Corners], edge: usize) -> [[f32; 2]; 2] {
    let (Corners { from, to, .. }, lane) = (&corners[edge / LANES], edge % LANES);
    [[from[0][lane], from[1][lane]], [to[0][lane], to[1][lane]]]
}

/// Moves one end of an edge.
#[inline(always)]
fn set(ends: &mut [Lane; 2], edge: usize, [x, y]: [f32; 2]) {
    (ends[0][edge % LANES], ends[1][edge % LANES]) = (x, y);
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

/// The key of the edge between two corners.
#[inline(always)]
fn key(a: Point, b: Point) -> Key {
    let (a, b) = (packed(a), packed(b));
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Where the latest edge of a key's hash stands.
#[inline(always)]
fn place(key: Key) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.ilog2())) as usize
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
        let Self { at: [xs, ys], before: [dxs, dys], behind: [next_dxs, next_dys], outward, from, .. } = self;
        let [met_xs, met_ys] = from;
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
