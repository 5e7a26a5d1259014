//! Grey pictures that lie on the world: the mean of their pixels in each cell.

use super::Axes;
use super::stencil::{cells, share};
use crate::Scene;
use crate::canvas::Canvas;
use crate::scene::{Item, Shape};

/// Draws the scanlines of a picture that lie above `limit`.
pub(super) fn draw(scene: &Scene, item: &Item, limit: i32, axes: &Axes, canvas: &mut Canvas) {
    let Shape::Bitmap { min, size, greys } = &item.shape else { return };
    let greys = scene.greys(greys);
    let (width, height) = (size.width as i32, size.height as i32);
    let surface = scene.size().height as i32;
    let is_flipped = scene.is_flipped(item);
    let top = if is_flipped { surface - min.y - height } else { min.y };
    let bottom = (top + height).min(limit) - 1;
    for row in cells(&axes.rows, top, bottom) {
        for column in cells(&axes.columns, min.x, min.x + width - 1) {
            let (mut grey, mut area) = (0.0, 0.0);
            for y in 0..height {
                let part = share(&axes.rows, row, top + y) * f32::from(u8::from(top + y <= bottom));
                if part == 0.0 {
                    continue;
                }
                let line = if is_flipped { height - 1 - y } else { y };
                for x in 0..width {
                    let part = part * share(&axes.columns, column, min.x + x);
                    grey += part * f32::from(greys[(line * width + x) as usize]);
                    area += part;
                }
            }
            canvas.blend(row, column, 1.0 - area, [grey - area * f32::from(axes.loss); 3]);
        }
    }
}
