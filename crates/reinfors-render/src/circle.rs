//! Circles of SDL_gfx: the soft ring of `aacircle` and the disc of `filled_circle`.
//!
//! Both walk an eighth or a quarter of the circle in integers and mirror it. Every rasteriser draws what they
//! say.

use crate::Point;

/// The opacity of a pixel that is simply set.
const SOLID: u32 = 256;

/// Calls `blend(x, y, alpha)` for each pixel of the ring, in drawing order: some are drawn twice. Opacities
/// are in 1/256. Source: `aaellipseColor` of equal radii.
pub(crate) fn ring(centre: Point, radius: i32, mut blend: impl FnMut(i32, i32, u32)) {
    for y in [centre.y - radius, centre.y + radius] {
        blend(centre.x, y, SOLID);
    }
    if radius == 0 {
        return;
    }
    let opacity = |weight: u32| (255 * weight) >> 8;
    let mut soft = |column: i32, row: i32, weight: u32| {
        for x in [centre.x - column, centre.x + column] {
            blend(x, centre.y + row, opacity(weight));
        }
    };
    let square = i64::from(radius) * i64::from(radius);
    let steps = (square as f64 / (2.0 * square as f64).sqrt()).round_ties_even() as i32;
    let (mut column, mut row) = (0, radius);
    // The reference's `d`, `t` and `s`: how far off the circle is, and its slopes down and across.
    let (mut off, mut fall, mut run) = (0, 0, -2 * square * i64::from(radius));
    for _ in 0..steps {
        column += 1;
        off += fall - square;
        let other;
        if off >= 0 {
            other = row + 1;
        } else if off - run - square > 0 && 2 * off - run - square >= 0 {
            other = row - 1;
        } else {
            let is_near = off - run - square > 0;
            other = if is_near { row } else { row - 2 };
            row -= 1;
            off -= run + square;
            run += 2 * square;
        }
        fall -= 2 * square;
        let weight = share(off, run);
        for side in [-1, 1] {
            soft(column, side * row, 255 - weight);
            soft(column, side * other, weight);
        }
    }
    for _ in 0..steps {
        row -= 1;
        off -= run + square;
        let other;
        if off <= 0 {
            other = column - 1;
        } else if off + fall - square < 0 && 2 * off + fall - square <= 0 {
            other = column + 1;
        } else {
            let is_near = off + fall - square < 0;
            other = if is_near { column } else { column + 2 };
            column += 1;
            off += fall - square;
            fall -= 2 * square;
        }
        run += 2 * square;
        let weight = share(off, fall);
        for (column, weight) in [(column, 255 - weight), (other, weight)] {
            soft(column, -row, weight);
            soft(column, row, weight);
        }
    }
}

/// `off / slope` as a weight from 0 to 255, in single precision as the reference.
fn share(off: i64, slope: i64) -> u32 {
    let share = if slope == 0 { 1.0 } else { (off.abs() as f32 / slope.abs() as f32).min(1.0) };
    (share * 255.0) as u32
}

/// Calls `span(x0, x1, y)` for each run of the disc, both ends included. Source: `filledCircleColor`.
pub(crate) fn disc(centre: Point, radius: i32, mut span: impl FnMut(i32, i32, i32)) {
    let mut both = |reach: i32, row: i32| {
        for y in [centre.y + row, centre.y - row] {
            span(centre.x - reach, centre.x + reach, y);
        }
    };
    let (mut near, mut far) = (0, radius);
    let (mut decision, mut along, mut inward) = (1 - radius, 3, 5 - 2 * radius);
    let mut is_new = true;
    while near <= far {
        if is_new {
            both(near, far);
        }
        if near != far {
            both(far, near);
        }
        is_new = decision >= 0;
        if is_new {
            decision += inward;
            inward += 2;
            far -= 1;
        } else {
            decision += along;
        }
        along += 2;
        inward += 2;
        near += 1;
    }
}
