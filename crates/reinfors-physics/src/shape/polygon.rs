//! Convex polygons: Box2D's `b2PolygonShape`.
//!
//! The order of the vertices is part of the result. Box2D wraps the given points starting from the right-most
//! one, and both the sums of the mass properties and the distance query start at vertex 0.

use reinfors_math::{Transform, Vec2};

/// The most vertices a polygon can have.
pub const MAX_VERTICES: usize = 8;

/// A convex polygon, counter-clockwise, with the outward normal of each edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polygon {
    vertices: [Vec2; MAX_VERTICES],
    normals: [Vec2; MAX_VERTICES],
    count: usize,
}

/// Mass, centre and rotational inertia of a polygon of some density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass in kilograms.
    pub mass: f32,
    /// Centre of mass in the body's coordinates.
    pub center: Vec2,
    /// Rotational inertia about the body's origin.
    pub inertia: f32,
}

impl Polygon {
    /// The convex hull of `points`, in the order of Box2D's gift wrapping (`b2PolygonShape::Set`).
    ///
    /// # Panics
    /// If there are fewer than three points or their hull has more than [`MAX_VERTICES`] vertices.
    pub fn hull(points: &[Vec2]) -> Self {
        assert!(points.len() >= 3, "a polygon needs three points, {} given", points.len());
        let start = rightmost(points);
        let mut polygon =
            Self { vertices: [Vec2::ZERO; MAX_VERTICES], normals: [Vec2::ZERO; MAX_VERTICES], count: 0 };
        let mut current = start;
        loop {
            assert!(polygon.count < MAX_VERTICES, "a polygon has at most {MAX_VERTICES} vertices");
            polygon.vertices[polygon.count] = points[current];
            polygon.count += 1;
            current = next_on_hull(points, current);
            // Rounding may keep the walk from returning where points all but coincide.
            if current == start || polygon.count == points.len() {
                break;
            }
        }
        for i in 0..polygon.count {
            polygon.normals[i] = outward(polygon.vertices[i], polygon.vertices[(i + 1) % polygon.count]);
        }
        polygon
    }

    /// The vertices, counter-clockwise.
    #[inline(always)]
    pub fn vertices(&self) -> &[Vec2] {
        &self.vertices[..self.count]
    }

    /// The unit normals: that of edge `i` from vertex `i` to the next one points outward.
    #[inline(always)]
    pub fn normals(&self) -> &[Vec2] {
        &self.normals[..self.count]
    }

    /// This polygon moved from body to world coordinates.
    #[inline(always)]
    pub fn transformed(&self, transform: &Transform) -> Self {
        let mut moved = *self;
        for i in 0..self.count {
            moved.vertices[i] = transform.apply(self.vertices[i]);
            moved.normals[i] = transform.rotation.rotate(self.normals[i]);
        }
        moved
    }

    /// Mass properties for a uniform `density`, summed over triangles as `b2PolygonShape::ComputeMass` does.
    pub fn mass_properties(&self, density: f32) -> MassProperties {
        const THIRD: f32 = 1.0 / 3.0;
        let sum = self.vertices().iter().fold(Vec2::ZERO, |sum, &vertex| sum + vertex);
        let reference = sum * (1.0 / self.count as f32);

        let (mut area, mut center, mut inertia) = (0.0_f32, Vec2::ZERO, 0.0_f32);
        for i in 0..self.count {
            let from = self.vertices[i] - reference;
            let to = self.vertices[(i + 1) % self.count] - reference;
            let twice_area = from.cross(to);
            let triangle = 0.5 * twice_area;
            area += triangle;
            center += (from + to) * (triangle * THIRD);
            let moment_x = from.x * from.x + to.x * from.x + to.x * to.x;
            let moment_y = from.y * from.y + to.y * from.y + to.y * to.y;
            inertia += (0.25 * THIRD * twice_area) * (moment_x + moment_y);
        }

        let mass = density * area;
        let center = center * (1.0 / area);
        let from_origin = center + reference;
        let inertia = density * inertia + mass * (from_origin.dot(from_origin) - center.dot(center));
        MassProperties { mass, center: from_origin, inertia }
    }
}

/// The point with the greatest `x`, the lowest of them if there are several.
fn rightmost(points: &[Vec2]) -> usize {
    let mut found = 0;
    for (index, point) in points.iter().enumerate().skip(1) {
        let best = points[found];
        if point.x > best.x || (point.x == best.x && point.y < best.y) {
            found = index;
        }
    }
    found
}

/// The point that has every other one on its left, seen from `current`; the farthest of them if there are
/// several.
fn next_on_hull(points: &[Vec2], current: usize) -> usize {
    let mut next = 0;
    for (index, &point) in points.iter().enumerate().skip(1) {
        if next == current {
            next = index;
            continue;
        }
        let edge = points[next] - points[current];
        let other = point - points[current];
        let turn = edge.cross(other);
        if turn < 0.0 || (turn == 0.0 && other.length_squared() > edge.length_squared()) {
            next = index;
        }
    }
    next
}

fn outward(from: Vec2, to: Vec2) -> Vec2 {
    let edge = to - from;
    Vec2::new(edge.y, -edge.x) * (1.0 / edge.length_squared().sqrt())
}

#[cfg(test)]
mod tests {
    use super::{Polygon, Vec2};

    fn polygon(points: &[(f32, f32)]) -> Polygon {
        Polygon::hull(&points.iter().map(|&(x, y)| Vec2::new(x, y)).collect::<Vec<_>>())
    }

    #[test]
    fn the_hull_starts_at_the_lowest_of_the_rightmost_points() {
        let square = polygon(&[(0.0, 0.0), (1.0, 0.0), (0.5, -0.5), (1.0, -1.0), (0.0, -1.0)]);
        let expected = [(1.0, -1.0), (1.0, 0.0), (0.0, 0.0), (0.0, -1.0)].map(|(x, y)| Vec2::new(x, y));
        assert_eq!(square.vertices(), expected);
        assert_eq!(square.normals()[0], Vec2::new(1.0, 0.0));
    }

    #[test]
    fn a_point_on_an_edge_is_left_out() {
        assert_eq!(polygon(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 2.0)]).vertices().len(), 3);
    }

    #[test]
    fn a_rectangle_has_the_mass_of_the_textbook() {
        let mass = polygon(&[(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]).mass_properties(3.0);
        assert_eq!(mass.mass, 6.0);
        assert_eq!(mass.center, Vec2::new(1.0, 0.5));
        let about_center = 6.0 * (4.0 + 1.0) / 12.0;
        assert!((mass.inertia - (about_center + 6.0 * 1.25)).abs() < 1e-5);
    }
}
