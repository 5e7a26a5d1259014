//! SDL_gfx's line clipping (`_clipLine`): Cohen-Sutherland in 16-bit integers with an f32 slope.
//! It truncates, so it *moves* a line that leaves the surface; the pixels follow the moved line.

use crate::{Point, Size};

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTTOM: u8 = 4;
const TOP: u8 = 8;

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
    loop {
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
}

fn wrap(value: i32) -> i32 {
    i32::from(value as i16)
}
