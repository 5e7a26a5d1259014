//! The plain rasteriser: every pixel of the full surface, shape by shape, as the reference's C code goes.
//!
//! It draws the full-size pictures, and it is what [`Thumbnail`](crate::Thumbnail) is tested against. It
//! shares no arithmetic with it but the line clipping, the thick line and the circles.

use crate::circle::{disc, ring};
use crate::clip::clip_segment;
use crate::line::thick_line;
use crate::scene::Shape;
use crate::{Colour, Point, Scene, Size};

/// A full-size picture in memory.
#[derive(Clone, Debug)]
pub struct Surface {
    size: Size,
    pixels: Vec<Colour>,
}

impl Surface {
    /// A black surface.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self { size, pixels: vec![Colour::BLACK; size.area()] }
    }

    /// Width and height.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// The pixels, row by row from the top.
    #[must_use]
    pub fn pixels(&self) -> &[Colour] {
        &self.pixels
    }

    /// Replaces the picture with `scene`.
    ///
    /// # Panics
    /// If the scene is of another size.
    pub fn draw(&mut self, scene: &Scene) {
        assert_eq!(scene.size(), self.size, "a scene of this surface's size");
        self.pixels.fill(Colour::BLACK);
        let mut flips = 0;
        for item in scene.items() {
            self.flip_until(&mut flips, item.flips);
            let colour = item.colour;
            match &item.shape {
                Shape::AaPolygon { points } => {
                    let points = scene.points(points);
                    for (index, &point) in points.iter().enumerate() {
                        self.aa_line(point, points[(index + 1) % points.len()], colour);
                    }
                    self.filled_polygon(points, colour);
                }
                Shape::AaCircle { centre, radius } => {
                    ring(*centre, *radius, |x, y, alpha| self.blend(x, y, colour, alpha as i32));
                    disc(*centre, *radius, |x0, x1, y| self.horizontal(x0, x1, y, colour));
                }
                Shape::Polygon { points } => self.draw_polygon(scene.points(points), colour),
                Shape::Rectangle { min, max } => {
                    for y in min.y.max(0)..=max.y.min(self.size.height as i32 - 1) {
                        self.horizontal(min.x, max.x, y, colour);
                    }
                }
                Shape::Line { from, to, width } => {
                    thick_line(*from, *to, *width, self.size, |x0, x1, y| self.horizontal(x0, x1, y, colour));
                }
                Shape::Bitmap { min, size, greys } => {
                    for (index, &level) in scene.greys(greys).iter().enumerate() {
                        let (x, y) = ((index % size.width) as i32, (index / size.width) as i32);
                        self.put(min.x + x, min.y + y, Colour::grey(level));
                    }
                }
            }
        }
        self.flip_until(&mut flips, scene.flips());
    }

    fn flip_until(&mut self, flips: &mut usize, wanted: usize) {
        while *flips < wanted {
            let (upper, lower) = self.pixels.split_at_mut(self.size.width * (self.size.height / 2));
            let width = self.size.width;
            for (a, b) in upper.chunks_exact_mut(width).zip(lower.chunks_exact_mut(width).rev()) {
                a.swap_with_slice(b);
            }
            *flips += 1;
        }
    }

    fn index(&self, x: i32, y: i32) -> Option<usize> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        (x < self.size.width && y < self.size.height).then(|| y * self.size.width + x)
    }

    fn put(&mut self, x: i32, y: i32, colour: Colour) {
        if let Some(index) = self.index(x, y) {
            self.pixels[index] = colour;
        }
    }

    /// One pixel at `weight / 255` of full ink (`pixelColorWeightNolock`).
    fn put_weighted(&mut self, x: i32, y: i32, colour: Colour, weight: u32) {
        self.blend(x, y, colour, ((255 * weight) >> 8) as i32);
    }

    /// One pixel at `alpha / 256` of full ink (`_putPixelAlpha`).
    fn blend(&mut self, x: i32, y: i32, colour: Colour, alpha: i32) {
        let Some(index) = self.index(x, y) else { return };
        let (mut channels, ink) = (self.pixels[index].channels(), colour.channels());
        for (channel, ink) in channels.iter_mut().zip(ink) {
            let (d, s) = (i32::from(*channel), i32::from(ink));
            *channel = (d + (((s - d) * alpha) >> 8)) as u8;
        }
        self.pixels[index] = Colour::rgb(channels);
    }

    /// Columns between two ends, both included and in either order.
    fn horizontal(&mut self, x0: i32, x1: i32, y: i32, colour: Colour) {
        let (start, end) = (x0.min(x1).max(0), x0.max(x1).min(self.size.width as i32 - 1));
        if let (true, Some(first)) = (start <= end, self.index(start, y)) {
            self.pixels[first..=first + (end - start) as usize].fill(colour);
        }
    }

    /// SDL_gfx `_aalineColor` without end point: Wu's line with a 32-bit error that starts over at 0.
    fn aa_line(&mut self, a: Point, b: Point, colour: Colour) {
        let Some((start, end)) = clip_segment(a, b, self.size) else { return };
        let (upper, lower) = if start.y > end.y { (end, start) } else { (start, end) };
        let (dx, dy) = (lower.x - upper.x, lower.y - upper.y);
        if dx == 0 {
            return (upper.y..=lower.y).for_each(|y| self.put(start.x, y, colour));
        }
        if dy == 0 {
            return self.horizontal(upper.x, lower.x, start.y, colour);
        }
        let (direction, dx) = (dx.signum(), dx.abs());
        self.put(start.x, start.y, colour);
        let (Point { mut x, mut y }, mut error) = (upper, 0u32);
        let is_steep = dy > dx;
        let (minor, major) = if is_steep { (dx, dy) } else { (dy, dx) };
        let step = (((minor << 16) / major) as u32) << 16;
        for _ in 1..major {
            let before = error;
            error = error.wrapping_add(step);
            let rolls_over = error <= before;
            if is_steep {
                x += if rolls_over { direction } else { 0 };
                y += 1;
            } else {
                x += direction;
                y += i32::from(rolls_over);
            }
            let weight = error >> 24;
            let (far_x, far_y) = if is_steep { (x + direction, y) } else { (x, y + 1) };
            self.put_weighted(x, y, colour, 255 - weight);
            self.put_weighted(far_x, far_y, colour, weight);
        }
    }

    /// SDL_gfx `filledPolygonColor`.
    fn filled_polygon(&mut self, points: &[Point], colour: Colour) {
        let (top, bottom) = extent(points.iter().map(|p| p.y));
        let round = |fixed: i32| (fixed >> 16) + ((fixed & 0x8000) >> 15);
        let mut crossings = Vec::new();
        for y in top.max(0)..=bottom.min(self.size.height as i32 - 1) {
            crossings.clear();
            for (a, b) in edges(points) {
                if (y >= a.y && y < b.y) || (y == bottom && y > a.y && y <= b.y) {
                    let part = 65536i32.wrapping_mul(y - a.y) / (b.y - a.y);
                    crossings.push(part.wrapping_mul(b.x - a.x).wrapping_add(65536i32.wrapping_mul(a.x)));
                }
            }
            crossings.sort_unstable();
            for pair in crossings.chunks_exact(2) {
                let (left, right) = (pair[0].wrapping_add(1), pair[1].wrapping_sub(1));
                self.horizontal(round(left), round(right), y, colour);
            }
        }
    }

    /// pygame's `draw_fillpoly`.
    fn draw_polygon(&mut self, points: &[Point], colour: Colour) {
        let (top, bottom) = extent(points.iter().map(|p| p.y));
        if top == bottom {
            let (left, right) = extent(points.iter().map(|p| p.x));
            return self.horizontal(left, right, top, colour);
        }
        let mut crossings = Vec::new();
        for y in top.max(0)..=bottom.min(self.size.height as i32 - 1) {
            crossings.clear();
            for (a, b) in edges(points) {
                if (y >= a.y && y < b.y) || (y == bottom && b.y == bottom) {
                    let rise = y.wrapping_sub(a.y).wrapping_mul(b.x.wrapping_sub(a.x));
                    let offset = rise as f32 / b.y.wrapping_sub(a.y) as f32;
                    let rounded = if crossings.len() % 2 == 0 { offset.floor() } else { offset.ceil() };
                    crossings.push((rounded as i32).wrapping_add(a.x));
                }
            }
            crossings.sort_unstable();
            for pair in crossings.chunks_exact(2) {
                self.horizontal(pair[0], pair[1], y, colour);
            }
        }
        for (index, point) in points.iter().enumerate() {
            let previous = points[(index + points.len() - 1) % points.len()];
            if previous.y == point.y && top < point.y && point.y < bottom {
                self.horizontal(point.x, previous.x, point.y, colour);
            }
        }
    }
}

/// The edges of a closed polygon that are not level, upper end first, the closing edge before the others.
fn edges(points: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    let before = points.iter().cycle().skip(points.len() - 1);
    before.zip(points).filter(|(a, b)| a.y != b.y).map(|(a, b)| if a.y < b.y { (*a, *b) } else { (*b, *a) })
}

/// Least and greatest coordinate.
fn extent(values: impl Iterator<Item = i32>) -> (i32, i32) {
    values.fold((i32::MAX, i32::MIN), |(low, high), value| (low.min(value), high.max(value)))
}
