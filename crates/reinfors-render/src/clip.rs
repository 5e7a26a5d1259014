//! SDL_gfx's line clipping (`_clipLine`): Cohen-Sutherland in 16-bit integers with an f32 slope.
//! It truncates, so it *moves* a line that leaves the surface; the pixels follow the moved line.

use crate::{Point, Size};

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTTOM: u8 = 4;
const TOP: u8 = 8;

/// Five are the most that any line was seen to need; the bound is there so that none can go on for ever.
const MOST_CUTS: usize = 16;

/// The part of the segment inside the surface, perhaps with its ends swapped; `None` if nothing is.
pub(crate) fn clip_segment(mut a: Point, mut b: Point, surface: Size) -> Option<(Point, Point)> {
    let far = Point::new(surface.width as i32 - 1, surface.height as i32 - 1);
    let outside = |p: Point| {
        (if p.x < 0 {
            LEFT
        } else if p.x > far.x {
            RIGHT
        } else {
            0
        }) | (if p.y < 0 {
            TOP
        } else if p.y > far.y {
            BOTTOM
        } else {
            0
        })
    };
    for _ in 0..MOST_CUTS {
        let (mut code, other) = (outside(a), outside(b));
        if code | other == 0 {
            return Some((a, b));
        }
        if code & other != 0 {
            return None;
        }
        if code == 0 {
            std::mem::swap(&mut a, &mut b);
            code = other;
        }
        let slope = if a.x == b.x { 1.0 } else { (b.y - a.y) as f32 / (b.x - a.x) as f32 };
        if code & (LEFT | RIGHT) != 0 {
            let wall = if code & LEFT != 0 { 0 } else { far.x };
            a.y = wrap(a.y + i32::from(((wall - a.x) as f32 * slope) as i32 as i16));
            a.x = wall;
        } else {
            let wall = if code & BOTTOM != 0 { far.y } else { 0 };
            if a.x != b.x {
                a.x = wrap(a.x + i32::from(((wall - a.y) as f32 / slope) as i32 as i16));
            }
            a.y = wall;
        }
    }
    None
}

fn wrap(value: i32) -> i32 {
    i32::from(value as i16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURFACE: Size = Size::new(1000, 800);

    #[test]
    fn a_line_inside_stays_as_it_is_and_one_beside_is_gone() {
        let (a, b) = (Point::new(3, 4), Point::new(999, 799));
        assert_eq!(clip_segment(a, b, SURFACE), Some((a, b)));
        assert_eq!(clip_segment(Point::new(-9, 0), Point::new(-1, 700), SURFACE), None);
    }

    #[test]
    fn a_cut_end_is_truncated_and_comes_first() {
        // From x = -3 the slope 7/13 gives y = 1 + 3 * 7 / 13 = 2.6.
        let inside = Point::new(10, 8);
        assert_eq!(clip_segment(inside, Point::new(-3, 1), SURFACE), Some((Point::new(0, 2), inside)));
    }
}
