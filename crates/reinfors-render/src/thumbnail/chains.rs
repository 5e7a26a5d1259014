//! What lies between the edges of a polygon that goes down once and up once: its two chains of edges, sixteen
//! rows at a time.
//!
//! 1. Each chain crosses every row once. An edge writes whole vectors, of crossings in the first chain and of
//!    spans in the second; what it writes beyond its own rows is overwritten by the next edge of its chain.
//! 2. All is done in 16 bits: a quotient comes from a reciprocal, one too small at most, and the remainder,
//!    which is small, tells whether it is ([`Ratio`]).
//!
//! The rules are those of [`Crossings`](crate::crossings::Crossings), which takes all other polygons.

use super::outline::Turn;
use super::rows::{LANES, Lanes, Places};
use super::spans::{NO_LEFT, NO_RIGHT};
use crate::Point;
use crate::crossings::Rule;
use std::ops::Range;

/// Coordinates from here on are left to others: C's integers wrap.
pub(super) const FAR: i32 = 1 << 14;

/// The crossings of the chain that is followed first.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    low: Vec<i16>,
    high: Vec<i16>,
}

/// What is to be filled: the output's rows, and room for their spans and fifteen more.
pub(super) struct Rows<'a> {
    pub turn: Turn,
    /// The first and last rows of the shape, which has that turn.
    pub ends: [i32; 2],
    pub rows: Range<i32>,
    /// The last column.
    pub far: i32,
    pub left: &'a mut [i16],
    pub right: &'a mut [i16],
}

/// How the corners of a polygon lie that was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corners {
    /// Whether some edge between the polygon's top and its bottom is level.
    pub has_ledge: bool,
    /// Whether the spans hold all corners and all level or upright edges.
    pub are_filled: bool,
}

impl Chains {
    /// Fills the spans of the closed polygon, which is [near](FAR), in the rows, each of which is one of its own;
    /// nothing if it does not go down once and up once. The spans then hold anything.
    #[inline(always)]
    pub fn fill(&mut self, points: &[Point], rule: Rule, rows: Rows) -> Option<Corners> {
        match rule {
            Rule::SdlGfx => self.trace::<Fixed>(points, rows),
            Rule::Pygame => self.trace::<Whole>(points, rows),
        }
    }

    #[inline(always)]
    fn trace<E: Edge>(&mut self, points: &[Point], mut rows: Rows) -> Option<Corners> {
        let Rows { turn, ends: [highest, lowest], .. } = rows;
        let is_upright = turn.sign > 0;
        // The row of the first corner in the output, and the output's first and last row.
        let (first, last) = if is_upright { (highest, lowest) } else { (lowest, highest) };
        let (top, bottom) = (turn.row(first), turn.row(last));
        if top == bottom {
            return None;
        }
        let start = points.iter().position(|point| point.y == first)?;
        let room = rows.left.len();
        if self.low.len() < room {
            self.low.resize(room, 0);
            self.high.resize(room, 0);
        }
        // Edges count from the one that closes the polygon; where a row's two crossings come in that order, the
        // first of them is one that goes down from there on, or one that goes up before.
        let seam = points[points.len() - 1].y;
        let seam = if seam == lowest { seam + 1 } else { seam };
        let swap = turn.row(seam) + i32::from(!is_upright) - rows.rows.start;
        let mut ends = [0; 2];
        let (mut has_ledge, mut at_top, mut at_bottom) = (false, 0, 0);
        for (end, step) in ends.iter_mut().zip([1, points.len() - 1]) {
            let is_first = step == 1;
            let (mut index, mut row) = (start, top);
            while row < bottom {
                let next = beside(index, step, points.len());
                let (a, b) = (points[index], points[next]);
                let next_row = turn.row(b.y);
                if next_row < row {
                    return None;
                }
                if next_row > row {
                    // An edge owns its rows but the shape's last, which counts only at the polygon's own bottom.
                    let (upper, lower, own) = if is_upright {
                        (a, b, row..next_row + i32::from(next_row == bottom))
                    } else {
                        (b, a, row + i32::from(row != top)..next_row + 1)
                    };
                    let own = own.start.max(rows.rows.start)..own.end.min(rows.rows.end);
                    let edge = E::new(upper, lower)?;
                    if !own.is_empty() {
                        if is_first {
                            self.cross(&edge, upper.y, own, &rows);
                        } else {
                            self.join(&edge, upper.y, own, swap, &mut rows);
                        }
                    }
                } else if row == top {
                    at_top += 1;
                } else {
                    has_ledge = true;
                }
                (index, row) = (next, next_row);
            }
            *end = index;
        }
        let mut index = ends[0];
        while index != ends[1] {
            index = beside(index, 1, points.len());
            at_bottom += 1;
            if points[index].y != last {
                return None;
            }
        }
        Some(Corners { has_ledge, are_filled: !has_ledge && at_top <= 1 && at_bottom <= 1 })
    }

    /// Writes the crossings of an edge of the first chain, which starts in row `top` of the shape.
    #[inline(always)]
    fn cross<E: Edge>(&mut self, edge: &E, top: i32, own: Range<i32>, rows: &Rows) {
        let (mut steps, pace) = steps(rows.turn, own.start, top);
        let own = rows.vectors(&own);
        let (lows, _) = self.low[own.clone()].as_chunks_mut::<LANES>();
        let (highs, _) = self.high[own].as_chunks_mut::<LANES>();
        for (low, high) in lows.iter_mut().zip(highs) {
            let crossings = edge.cross(steps);
            (*low, *high) = (crossings[0].0, crossings[1].0);
            steps = steps.plus(pace);
        }
    }

    /// Makes spans of the crossings of an edge of the second chain. From row `swap` on the first chain has the
    /// first crossing.
    #[inline(always)]
    fn join<E: Edge>(&self, edge: &E, top: i32, own: Range<i32>, swap: i32, rows: &mut Rows) {
        let (mut steps, pace) = steps(rows.turn, own.start, top);
        let own = rows.vectors(&own);
        let mut swap = (swap - own.start as i32).clamp(-1, i32::from(i16::MAX)) as i16;
        let far = rows.far as i16;
        let (lows, _) = self.low[own.clone()].as_chunks::<LANES>();
        let (highs, _) = self.high[own.clone()].as_chunks::<LANES>();
        let (lefts, _) = rows.left[own.clone()].as_chunks_mut::<LANES>();
        let (rights, _) = rows.right[own].as_chunks_mut::<LANES>();
        for (((left, right), low), high) in lefts.iter_mut().zip(rights).zip(lows).zip(highs) {
            let [a, b] = E::pair([Places(*low), Places(*high)], edge.cross(steps), swap);
            let min = Places::from_fn(|lane| a.0[lane].min(b.0[lane]));
            let max = Places::from_fn(|lane| a.0[lane].max(b.0[lane]));
            let is_seen = Places::from_fn(|lane| -i16::from((min.0[lane] <= far) & (max.0[lane] >= 0)));
            *left = chosen(is_seen, Places::from_fn(|lane| min.0[lane].max(0)), NO_LEFT).0;
            *right = chosen(is_seen, Places::from_fn(|lane| max.0[lane].min(far)), NO_RIGHT).0;
            steps = steps.plus(pace);
            swap = swap.saturating_sub(LANES as i16);
        }
    }
}

impl Rows<'_> {
    /// The places of some rows, as whole vectors.
    #[inline(always)]
    fn vectors(&self, own: &Range<i32>) -> Range<usize> {
        let start = (own.start - self.rows.start) as usize;
        start..start + own.len().div_ceil(LANES) * LANES
    }
}

/// The steps of sixteen rows of the output from `first` on, down from row `top` of the shape, and how many more
/// they are for the next sixteen.
#[inline(always)]
fn steps(turn: Turn, first: i32, top: i32) -> (Lanes, Lanes) {
    let steps = Lanes::steps((turn.row(first) - top) as u16, turn.sign);
    (steps, Lanes::splat((turn.sign * LANES as i32) as u16))
}

/// The places where the mask is set, else the other.
#[inline(always)]
fn chosen(mask: Places, places: Places, other: i16) -> Places {
    Places::from_fn(|lane| (places.0[lane] & mask.0[lane]) | (other & !mask.0[lane]))
}

/// The corner `step` places on.
#[inline(always)]
const fn beside(index: usize, step: usize, len: usize) -> usize {
    let next = index + step;
    if next >= len { next - len } else { next }
}

/// An edge by one of the rules.
trait Edge: Sized {
    /// The edge between two corners, or nothing if that is beyond this arithmetic.
    fn new(upper: Point, lower: Point) -> Option<Self>;

    /// The crossings so many rows below the upper corner, rounded for the left and for the right end of a
    /// span, or down and up.
    fn cross(&self, steps: Lanes) -> [Places; 2];

    /// The ends of spans, in any order, from both crossings of each row. In lanes from `swap` on that of the
    /// first chain comes first.
    fn pair(first: [Places; 2], second: [Places; 2], swap: i16) -> [Places; 2];
}

/// `steps * numerator / divisor`, rounded down, for numerators up to 2^16 and divisors below 2^15.
#[derive(Clone, Copy)]
struct Ratio {
    /// `numerator / divisor` in 16.16 fixed point: rounded down, or one less where that is 2^16.
    whole: u16,
    part: u16,
    /// Modulo 2^16.
    numerator: u16,
    divisor: u16,
}

impl Ratio {
    #[inline(always)]
    fn new(numerator: u32, divisor: u32) -> Self {
        let ratio = numerator.saturating_mul(1 << 16) / divisor;
        Self {
            whole: (ratio >> 16) as u16,
            part: ratio as u16,
            numerator: numerator as u16,
            divisor: divisor as u16,
        }
    }

    /// Quotients, modulo 2^16, and remainders, for up to 2^16 steps.
    #[inline(always)]
    fn of(&self, steps: Lanes) -> [Lanes; 2] {
        let Self { whole, part, numerator, divisor } = *self;
        // What the ratio lost is at most 1 / 2^16: times the steps, less than one.
        let least = steps.high(Lanes::splat(part).settled());
        let mut quotients = Lanes::ZERO;
        let mut rests = Lanes::ZERO;
        for lane in 0..LANES {
            let step = steps.0[lane];
            let quotient = step.wrapping_mul(whole).wrapping_add(least.0[lane]);
            let rest = step.wrapping_mul(numerator).wrapping_sub(quotient.wrapping_mul(divisor));
            let is_more = rest >= divisor;
            quotients.0[lane] = quotient.wrapping_add(u16::from(is_more));
            rests.0[lane] = rest.wrapping_sub(if is_more { divisor } else { 0 });
        }
        [quotients, rests]
    }
}

/// An edge of SDL_gfx: `65536 * steps / height * dx + 65536 * x`, a hair inward, to the nearest column.
struct Fixed {
    ratio: Ratio,
    x: u16,
    dx: u16,
    /// All ones where `dx` is negative.
    is_leftward: u16,
}

impl Edge for Fixed {
    #[inline(always)]
    fn new(upper: Point, lower: Point) -> Option<Self> {
        let (dx, height) = (lower.x - upper.x, lower.y - upper.y);
        let is_leftward = (dx >> 31) as u16;
        Some(Self {
            ratio: Ratio::new(1 << 16, height as u32),
            x: upper.x as u16,
            dx: dx as u16,
            is_leftward,
        })
    }

    #[inline(always)]
    fn cross(&self, steps: Lanes) -> [Places; 2] {
        let Self { ratio, x, dx, is_leftward } = *self;
        let [parts, _] = ratio.of(steps);
        let products = parts.high(Lanes::splat(dx).settled());
        let (mut left, mut right) = (Places([0; LANES]), Places([0; LANES]));
        for lane in 0..LANES {
            let part = parts.0[lane];
            // The last step's part is 2^16, which does not fit.
            let whole = if steps.0[lane] == ratio.divisor { dx } else { 0 };
            let product = products.0[lane].wrapping_sub(part & is_leftward).wrapping_add(whole);
            let (column, fraction) = (product.wrapping_add(x), part.wrapping_mul(dx));
            left.0[lane] = column.wrapping_add(u16::from(fraction >= 0x7fff)) as i16;
            right.0[lane] = column.wrapping_add(u16::from(fraction > 0x8000)) as i16;
        }
        [left, right]
    }

    #[inline(always)]
    fn pair([left, right]: [Places; 2], [low, high]: [Places; 2], _: i16) -> [Places; 2] {
        [
            Places::from_fn(|lane| left.0[lane].min(low.0[lane])),
            Places::from_fn(|lane| right.0[lane].max(high.0[lane])),
        ]
    }
}

/// An edge of pygame: `x + steps * dx / height`, down and up. The quotient is one of f32, which makes no
/// difference as long as the product is exact.
struct Whole {
    ratio: Ratio,
    x: u16,
    /// All ones where the edge goes left.
    is_leftward: u16,
}

impl Edge for Whole {
    #[inline(always)]
    fn new(upper: Point, lower: Point) -> Option<Self> {
        const EXACT: u32 = 1 << f32::MANTISSA_DIGITS;
        let (dx, height) = (lower.x - upper.x, (lower.y - upper.y) as u32);
        let width = dx.unsigned_abs();
        (width * height < EXACT).then(|| Self {
            ratio: Ratio::new(width, height),
            x: upper.x as u16,
            is_leftward: (dx >> 31) as u16,
        })
    }

    #[inline(always)]
    fn cross(&self, steps: Lanes) -> [Places; 2] {
        let Self { ratio, x, is_leftward } = *self;
        let [quotients, rests] = ratio.of(steps);
        let (mut down, mut up) = (Places([0; LANES]), Places([0; LANES]));
        for lane in 0..LANES {
            let quotient = (quotients.0[lane] ^ is_leftward).wrapping_sub(is_leftward);
            let (column, more) = (x.wrapping_add(quotient), u16::from(rests.0[lane] > 0));
            down.0[lane] = column.wrapping_sub(more & is_leftward) as i16;
            up.0[lane] = column.wrapping_add(more & !is_leftward) as i16;
        }
        [down, up]
    }

    #[inline(always)]
    fn pair([down, up]: [Places; 2], [other_down, other_up]: [Places; 2], swap: i16) -> [Places; 2] {
        let is_first = Places::from_fn(|lane| -i16::from(lane as i16 >= swap));
        let chosen = |a: Places, b: Places| {
            Places::from_fn(|lane| (a.0[lane] & is_first.0[lane]) | (b.0[lane] & !is_first.0[lane]))
        };
        [chosen(down, up), chosen(other_up, other_down)]
    }
}

#[cfg(test)]
mod tests {
    use super::{Edge, Fixed, LANES, Lanes, Ratio, Whole};
    use crate::Point;

    /// Steps `0..=height`, sixteen at a time.
    fn steps(height: u16) -> impl Iterator<Item = Lanes> {
        (0..=height).step_by(LANES).map(|first| Lanes::from_fn(|lane| first + lane as u16))
    }

    /// Heights, widths and left ends of edges: all small ones, and some up to the largest.
    fn edges() -> impl Iterator<Item = (u16, i32, i32)> {
        let small = (1..=200).flat_map(|height| (-230..=230).map(move |dx| (height, dx, 3 * dx - 7)));
        let large = (1..=32_767).step_by(499).flat_map(|height| {
            (-32_767..=32_767).step_by(1321).map(move |dx: i32| (height, dx, (-dx).clamp(-16_383, 16_383)))
        });
        small.chain(large)
    }

    fn edge<E: Edge>(height: u16, dx: i32, x: i32) -> Option<E> {
        E::new(Point::new(x, -9), Point::new(x + dx, i32::from(height) - 9))
    }

    #[test]
    fn quotients_are_exact_for_every_divisor() {
        for divisor in (1..1000).chain((1000..0x8000).step_by(37)) {
            for numerator in [1 << 16, 1, 2, divisor, divisor + 1, 2 * divisor - 1, 0x7fff] {
                let ratio = Ratio::new(numerator, divisor);
                for steps in steps(divisor as u16) {
                    let [quotients, rests] = ratio.of(steps);
                    for lane in 0..LANES {
                        let product = u64::from(steps.0[lane]) * u64::from(numerator);
                        let (quotient, rest) = (product / u64::from(divisor), product % u64::from(divisor));
                        let got = (quotients.0[lane], u64::from(rests.0[lane]));
                        assert_eq!(got, (quotient as u16, rest), "{product} / {divisor}");
                    }
                }
            }
        }
    }

    #[test]
    fn crossings_of_sdl_gfx_are_those_of_its_integers() {
        let round = |fixed: i32| (fixed >> 16) + ((fixed & 0x8000) >> 15);
        for (height, dx, x) in edges() {
            let edge: Fixed = edge(height, dx, x).expect("any height and width");
            for steps in steps(height) {
                let [left, right] = edge.cross(steps);
                for lane in 0..LANES.min(usize::from(height - steps.0[0]) + 1) {
                    let part = (i32::from(steps.0[lane]) << 16) / i32::from(height);
                    let crossing = part.wrapping_mul(dx).wrapping_add(x << 16);
                    let want = [crossing.wrapping_add(1), crossing.wrapping_sub(1)].map(round);
                    let got = [left.0[lane], right.0[lane]].map(i32::from);
                    assert_eq!(got, want, "{dx} in {height} from {x}, step {}", steps.0[lane]);
                }
            }
        }
    }

    #[test]
    fn crossings_of_pygame_are_those_of_its_floats() {
        let (mut exact, mut others) = (0, 0);
        for (height, dx, x) in edges() {
            let Some(edge) = edge::<Whole>(height, dx, x) else {
                others += 1;
                continue;
            };
            exact += 1;
            for steps in steps(height) {
                let [down, up] = edge.cross(steps);
                for lane in 0..LANES.min(usize::from(height - steps.0[0]) + 1) {
                    let offset = (i32::from(steps.0[lane]) * dx) as f32 / f32::from(height);
                    let want = [offset.floor(), offset.ceil()].map(|offset| offset as i32 + x);
                    let got = [down.0[lane], up.0[lane]].map(i32::from);
                    assert_eq!(got, want, "{dx} in {height} from {x}, step {}", steps.0[lane]);
                }
            }
        }
        assert!(exact > 90_000 && others > 1000, "{exact} edges, {others} others");
    }
}
