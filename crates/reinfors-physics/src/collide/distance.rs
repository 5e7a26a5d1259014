//! The distance between two polygons by the algorithm of Gilbert, Johnson and Keerthi: Box2D's `b2Distance`.
//!
//! Box2D calls two sensors touching if this distance, less both skins, is below ten epsilons. Single
//! precision makes the answer depend on every operation, so the simplex is walked exactly as Box2D walks it,
//! from vertex 0 of both.

use reinfors_math::{Transform, Vec2};

use crate::POLYGON_RADIUS;
use crate::shape::Polygon;

/// Box2D's `b2_gjkMaxIters`.
const MAX_ITERATIONS: usize = 20;

/// A vertex of the simplex: a pair of supporting points and their difference.
#[derive(Clone, Copy)]
struct SimplexVertex {
    on_a: Vec2,
    on_b: Vec2,
    /// `on_b - on_a`.
    difference: Vec2,
    /// Barycentric coordinate of the point of the simplex that is closest to the origin.
    weight: f32,
    support: (usize, usize),
}

/// The first `count` vertices span the part of the Minkowski difference that is under search.
struct Simplex {
    vertices: [SimplexVertex; 3],
    count: usize,
}

/// Whether polygon `a` at `transform_a` and polygon `b` at `transform_b` touch, skins included
/// (`b2TestOverlap`).
pub fn overlaps_by_distance(
    a: &Polygon,
    transform_a: &Transform,
    b: &Polygon,
    transform_b: &Transform,
) -> bool {
    let vertex = |support: (usize, usize)| {
        let on_a = transform_a.apply(a.vertices()[support.0]);
        let on_b = transform_b.apply(b.vertices()[support.1]);
        SimplexVertex { on_a, on_b, difference: on_b - on_a, weight: 1.0, support }
    };
    let mut simplex = Simplex { vertices: [vertex((0, 0)); 3], count: 1 };
    for _ in 0..MAX_ITERATIONS {
        let supports = simplex.vertices.map(|vertex| vertex.support);
        let seen = &supports[..simplex.count];
        simplex.reduce();
        if simplex.count == 3 {
            // The triangle holds the origin: the polygons share a point.
            return true;
        }
        let direction = simplex.search_direction();
        if direction.length_squared() < f32::EPSILON * f32::EPSILON {
            break;
        }
        let support = (
            support_index(a, transform_a.rotation.rotate_back(-direction)),
            support_index(b, transform_b.rotation.rotate_back(direction)),
        );
        simplex.vertices[simplex.count] = vertex(support);
        if seen.contains(&support) {
            break;
        }
        simplex.count += 1;
    }
    simplex.touches()
}

/// The vertex farthest in `direction`, the first of them if there are several.
fn support_index(polygon: &Polygon, direction: Vec2) -> usize {
    let mut best = 0;
    let mut reach = polygon.vertices()[0].dot(direction);
    for (index, vertex) in polygon.vertices().iter().enumerate().skip(1) {
        let value = vertex.dot(direction);
        if value > reach {
            (best, reach) = (index, value);
        }
    }
    best
}

impl Simplex {
    /// Keeps only the vertices whose hull holds the point closest to the origin, and weighs them.
    fn reduce(&mut self) {
        match self.count {
            1 => {}
            2 => self.reduce_segment(),
            _ => self.reduce_triangle(),
        }
    }

    fn keep_vertex(&mut self, index: usize) {
        self.vertices[0] = self.vertices[index];
        self.vertices[0].weight = 1.0;
        self.count = 1;
    }

    /// Keeps `first` and `second` with weights in the proportion `towards_first : towards_second`.
    fn keep_edge(&mut self, first: usize, second: usize, towards_first: f32, towards_second: f32) {
        let scale = 1.0 / (towards_first + towards_second);
        let (mut one, mut two) = (self.vertices[first], self.vertices[second]);
        one.weight = towards_first * scale;
        two.weight = towards_second * scale;
        (self.vertices[0], self.vertices[1]) = (one, two);
        self.count = 2;
    }

    /// `b2Simplex::Solve2`.
    fn reduce_segment(&mut self) {
        let [w1, w2] = [self.vertices[0].difference, self.vertices[1].difference];
        let edge = w2 - w1;
        let towards_second = -w1.dot(edge);
        if towards_second <= 0.0 {
            return self.keep_vertex(0);
        }
        let towards_first = w2.dot(edge);
        if towards_first <= 0.0 {
            return self.keep_vertex(1);
        }
        self.keep_edge(0, 1, towards_first, towards_second);
    }

    /// `b2Simplex::Solve3`: which of the seven regions of the triangle is closest to the origin. `dij_k` is
    /// the weight of vertex `k` on edge `ij`, `inside_k` its weight in the whole triangle.
    fn reduce_triangle(&mut self) {
        let [w1, w2, w3] = self.vertices.map(|vertex| vertex.difference);
        let (edge12, edge13, edge23) = (w2 - w1, w3 - w1, w3 - w2);
        let (d12_1, d12_2) = (w2.dot(edge12), -w1.dot(edge12));
        let (d13_1, d13_3) = (w3.dot(edge13), -w1.dot(edge13));
        let (d23_2, d23_3) = (w3.dot(edge23), -w2.dot(edge23));
        let area = edge12.cross(edge13);
        let inside_1 = area * w2.cross(w3);
        let inside_2 = area * w3.cross(w1);
        let inside_3 = area * w1.cross(w2);

        if d12_2 <= 0.0 && d13_3 <= 0.0 {
            self.keep_vertex(0);
        } else if d12_1 > 0.0 && d12_2 > 0.0 && inside_3 <= 0.0 {
            self.keep_edge(0, 1, d12_1, d12_2);
        } else if d13_1 > 0.0 && d13_3 > 0.0 && inside_2 <= 0.0 {
            self.keep_edge(0, 2, d13_1, d13_3);
        } else if d12_1 <= 0.0 && d23_3 <= 0.0 {
            self.keep_vertex(1);
        } else if d13_1 <= 0.0 && d23_2 <= 0.0 {
            self.keep_vertex(2);
        } else if d23_2 > 0.0 && d23_3 > 0.0 && inside_1 <= 0.0 {
            // Box2D overwrites vertex 0 with vertex 2, so the order is reversed here.
            self.keep_edge(2, 1, d23_3, d23_2);
        }
    }

    /// From the simplex towards the origin.
    fn search_direction(&self) -> Vec2 {
        let first = self.vertices[0].difference;
        if self.count == 1 {
            return -first;
        }
        let edge = self.vertices[1].difference - first;
        if edge.cross(-first) > 0.0 { Vec2::new(-edge.y, edge.x) } else { Vec2::new(edge.y, -edge.x) }
    }

    /// Whether the closest points are apart by no more than the skins of both polygons.
    fn touches(&self) -> bool {
        const SKINS: f32 = POLYGON_RADIUS + POLYGON_RADIUS;
        let gap = match self.count {
            1 => self.vertices[0].on_a - self.vertices[0].on_b,
            2 => {
                let [one, two] = [self.vertices[0], self.vertices[1]];
                let on_a = one.on_a * one.weight + two.on_a * two.weight;
                let on_b = one.on_b * one.weight + two.on_b * two.weight;
                on_a - on_b
            }
            _ => return true,
        };
        let distance = gap.length_squared().sqrt();
        let beyond_skins = if distance > SKINS { distance - SKINS } else { 0.0 };
        beyond_skins < 10.0 * f32::EPSILON
    }
}

#[cfg(test)]
mod tests {
    use reinfors_math::{Rotation, Transform, Vec2};

    use super::overlaps_by_distance;
    use crate::shape::Polygon;

    fn unit_square() -> Polygon {
        Polygon::hull(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| Vec2::new(x, y)))
    }

    fn touch_when_moved_by(x: f32, y: f32, rotation: Rotation) -> bool {
        let moved = Transform { position: Vec2::new(x, y), rotation };
        overlaps_by_distance(&unit_square(), &Transform::IDENTITY, &unit_square(), &moved)
    }

    #[test]
    fn skins_of_a_hundredth_count_as_part_of_the_polygon() {
        assert!(touch_when_moved_by(1.0199, 0.3, Rotation::IDENTITY));
        assert!(!touch_when_moved_by(1.0201, 0.3, Rotation::IDENTITY));
        assert!(touch_when_moved_by(0.2, 0.3, Rotation::IDENTITY));
    }

    #[test]
    fn corners_are_rounded_by_the_skins() {
        let turned = Rotation::by(std::f32::consts::FRAC_PI_4);
        assert!(touch_when_moved_by(1.014, 1.014 - 0.5_f32.sqrt() + 0.7, turned));
        assert!(!touch_when_moved_by(1.0145, 1.0145, Rotation::IDENTITY));
        assert!(touch_when_moved_by(1.0140, 1.0140, Rotation::IDENTITY));
    }
}
