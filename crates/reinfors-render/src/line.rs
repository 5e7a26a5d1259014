//! pygame's thick line (`draw_line_width`): Bresenham, each step a short run across the line.

use crate::{Point, Size};

/// Calls `run(x0, x1, y)`, both ends included and perhaps outside the surface, for each run of a line two or
/// more pixels wide.
pub(crate) fn thick_line(
    from: Point,
    to: Point,
    width: i32,
    surface: Size,
    mut run: impl FnMut(i32, i32, i32),
) {
    debug_assert!(width >= 2);
    let (before, after) = (width / 2 - (1 - width % 2), width / 2);
    let (dx, dy) = (i64::from(to.x) - i64::from(from.x), i64::from(to.y) - i64::from(from.y));
    let grows_in_x = dx.abs() <= dy.abs();
    if !touches(from, to, width / 2, grows_in_x, surface) {
        return;
    }
    let (step_x, step_y) = (if dx > 0 { 1 } else { -1 }, if dy > 0 { 1 } else { -1 });
    let (dx, dy) = (dx.abs(), dy.abs());
    if dx == 0 && dy == 0 {
        return run(from.x - before, from.x + after, from.y);
    }
    let mut error = (if dx > dy { dx } else { -dy }) / 2;
    let (mut x, mut y) = (from.x, from.y);
    for _ in 0..=dx.max(dy) {
        if grows_in_x {
            run(x - before, x + after, y);
        } else {
            for row in y - before..=y + after {
                run(x, x, row);
            }
        }
        let was = error;
        if was > -dx {
            error -= dy;
            x += step_x;
        }
        if was < dy {
            error += dx;
            y += step_y;
        }
    }
}

/// pygame's own rejection (`clip_line` in draw.c): a line whose grown box misses the surface is not walked.
fn touches(from: Point, to: Point, grow: i32, grows_in_x: bool, surface: Size) -> bool {
    let (grow_x, grow_y) = if grows_in_x { (grow, 0) } else { (0, grow) };
    let overlaps = |a: i32, b: i32, grow: i32, length: usize| {
        i64::from(a.max(b)) + i64::from(grow) >= 0 && i64::from(a.min(b)) - i64::from(grow) < length as i64
    };
    overlaps(from.x, to.x, grow_x, surface.width) && overlaps(from.y, to.y, grow_y, surface.height)
}
