//! The overlap of two polygons, decided by inexpensive bounds where they leave no doubt and by [the exact
//! distance](super::overlaps_by_distance) where they do.
//!
//! The bounds are conservative: rounding moves a gap by less than 1e-4 at the coordinates of a world some
//! hundred metres wide, while the margins below leave 1e-3. They never contradict the exact decision, they
//! only save it, nearly always.

use reinfors_math::lanes::{Lanes, Mask, Pack, PerLane};
use reinfors_math::{Transform, Vec2};

use super::overlaps_by_distance;
use crate::POLYGON_RADIUS;
use crate::body::splat;
use crate::shape::Polygon;

/// A gap from here on is wider than both skins.
const APART: f32 = 2.0 * POLYGON_RADIUS + 0.001;

/// A gap up to here is an overlap even without skins.
const DEEP: f32 = -0.001;

/// A polygon with a circle that holds it, for the first, cheapest bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convex {
    polygon: Polygon,
    center: Vec2,
    radius: f32,
}

impl From<Polygon> for Convex {
    fn from(polygon: Polygon) -> Self {
        let vertices = polygon.vertices();
        let sum = vertices.iter().fold(Vec2::ZERO, |sum, &vertex| sum + vertex);
        let center = sum * (1.0 / vertices.len() as f32);
        let radius =
            vertices.iter().map(|&vertex| (vertex - center).length_squared().sqrt()).fold(0.0, f32::max);
        Self { polygon, center, radius }
    }
}

impl Convex {
    /// The polygon itself.
    pub fn polygon(&self) -> &Polygon {
        &self.polygon
    }
}

/// How far `point` lies outside the polygon, measured along edge normals: at most the distance; negative
/// inside.
#[inline(always)]
pub fn signed_gap<L: Lanes>(polygon: &Polygon, point: Vec2<L>) -> L {
    let mut gap = L::splat(f32::NEG_INFINITY);
    for (&normal, &vertex) in polygon.normals().iter().zip(polygon.vertices()) {
        gap = gap.max(splat(normal).dot(point - splat(vertex)));
    }
    gap
}

/// `N` shapes where they lie in the world, asked all at once what they touch.
pub struct Placed<'a, const N: usize> {
    shapes: [(&'a Convex, &'a Transform); N],
    centers: Vec2<Pack<N>>,
    /// A shape is apart from what is farther from its centre.
    reaches: Pack<N>,
}

impl<'a, const N: usize> Placed<'a, N> {
    /// Each shape at its transform.
    #[inline(always)]
    pub fn new(shapes: [(&'a Convex, &'a Transform); N]) -> Self {
        let zero = Pack::splat(0.0);
        let mut placed = Self { shapes, centers: Vec2::new(zero, zero), reaches: zero };
        for (index, (shape, transform)) in shapes.iter().enumerate() {
            placed.centers.set(index, transform.apply(shape.center));
            placed.reaches.set(index, shape.radius + APART);
        }
        placed
    }

    /// Whether each shape touches `fixed`, a polygon that lies in the world, skins included. The same answer
    /// as [`overlaps_by_distance`].
    #[inline(always)]
    pub fn touches(&self, fixed: &Polygon) -> [bool; N] {
        let gaps = signed_gap(fixed, self.centers);
        let (apart, deep) = (gaps.gt(self.reaches), gaps.lt(Pack::splat(DEEP)));
        let mut touches = [false; N];
        if apart.all() {
            return touches;
        }
        for (index, touches) in touches.iter_mut().enumerate() {
            let (shape, transform) = self.shapes[index];
            *touches = !apart.get(index) && (deep.get(index) || touches_closely(fixed, shape, transform));
        }
        touches
    }
}

/// The decision for shapes whose centres are near.
fn touches_closely(fixed: &Polygon, shape: &Convex, transform: &Transform) -> bool {
    let gap = separation(fixed, &shape.polygon.transformed(transform));
    gap <= APART
        && (gap < DEEP || overlaps_by_distance(fixed, &Transform::IDENTITY, &shape.polygon, transform))
}

/// The widest gap between two polygons over all edge normals: at most their distance; negative if they
/// overlap. A gap beyond [`APART`] is as good as the widest.
fn separation(a: &Polygon, b: &Polygon) -> f32 {
    let mut widest = f32::NEG_INFINITY;
    for (of, other) in [(a, b), (b, a)] {
        for (normal, &vertex) in of.normals().iter().zip(of.vertices()) {
            let mut nearest = f32::INFINITY;
            for &point in other.vertices() {
                nearest = Lanes::min(nearest, normal.dot(point - vertex));
            }
            widest = Lanes::max(widest, nearest);
            if widest > APART {
                return widest;
            }
        }
    }
    widest
}

#[cfg(test)]
mod tests {
    use reinfors_math::{Rotation, Transform, Vec2};

    use super::{Convex, Placed};
    use crate::collide::overlaps_by_distance;
    use crate::shape::Polygon;

    /// A small generator of poses; the quality of its numbers does not matter.
    struct Poses(u64);

    impl Poses {
        fn between(&mut self, low: f32, high: f32) -> f32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            low + (high - low) * (self.0 >> 40) as f32 / (1 << 24) as f32
        }
    }

    #[test]
    fn the_bounds_never_contradict_the_distance() {
        let mut poses = Poses(1);
        let (mut touching, mut apart) = (0, 0);
        for _ in 0..200_000 {
            let (x, y) = (poses.between(-300.0, 300.0), poses.between(-300.0, 300.0));
            let corners = [(-6.7, -1.7), (6.7, -1.8), (6.6, 1.7), (-6.8, 1.6)];
            let turn = Rotation::by(poses.between(-3.2, 3.2));
            let fixed = Polygon::hull(&corners.map(|(u, v)| turn.rotate(Vec2::new(u, v)) + Vec2::new(x, y)));
            let shape = Convex::from(Polygon::hull(
                &[(-1.2, 2.2), (1.2, 2.2), (0.7, -2.6), (-1.0, -2.6)].map(|(u, v)| Vec2::new(u, v)),
            ));
            let pose = Transform {
                position: Vec2::new(x + poses.between(-9.0, 9.0), y + poses.between(-9.0, 9.0)),
                rotation: Rotation::by(poses.between(-10.0, 10.0)),
            };
            let exact = overlaps_by_distance(&fixed, &Transform::IDENTITY, shape.polygon(), &pose);
            // Others beside it must not matter.
            let far = Transform { position: pose.position + Vec2::new(30.0, 0.0), ..pose };
            let placed = Placed::new([(&shape, &far), (&shape, &pose)]);
            assert_eq!(placed.touches(&fixed), [false, exact], "{pose:?}");
            if exact { touching += 1 } else { apart += 1 }
        }
        assert!(touching > 20_000 && apart > 20_000, "{touching} touching, {apart} apart");
    }
}
