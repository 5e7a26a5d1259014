//! Stretches of the track: boxes around what lies in a row, so that what is far away is passed over together.

use super::{PathPoint, Quad};

/// How many quads or points in a row make a stretch.
pub const STRETCH: usize = 8;

/// Corners of an upright box in world coordinates: the least and the greatest.
pub type Bounds = [[f64; 2]; 2];

/// The box around each [`STRETCH`] of quads.
pub fn of_quads(quads: &[Quad]) -> Vec<Bounds> {
    quads.chunks(STRETCH).map(|stretch| around(stretch.as_flattened().iter().copied())).collect()
}

/// The box around each [`STRETCH`] of a path's points.
pub fn of_points(points: &[PathPoint]) -> Vec<Bounds> {
    points.chunks(STRETCH).map(|stretch| around(stretch.iter().map(|point| [point.x, point.y]))).collect()
}

fn around(corners: impl Iterator<Item = [f64; 2]>) -> Bounds {
    let nothing = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    corners.fold(nothing, |[low, high], [x, y]| {
        [[low[0].min(x), low[1].min(y)], [high[0].max(x), high[1].max(y)]]
    })
}

/// Index of the point nearest to `position`, the first of equals, where `stretches` are [`of_points`]; `None`
/// of no points. No point is nearer than its box: both distances are rounded alike.
pub fn nearest(points: &[PathPoint], stretches: &[Bounds], position: [f64; 2]) -> Option<usize> {
    let square = |x: f64, y: f64| x * x + y * y;
    let to_box = |[low, high]: &Bounds| {
        let beside = |axis: usize| (low[axis] - position[axis]).max(position[axis] - high[axis]).max(0.0);
        square(beside(0), beside(1))
    };
    let nearer_in = |stretch: usize, best: (f64, usize)| {
        let first = stretch * STRETCH;
        points[first..].iter().take(STRETCH).zip(first..).fold(best, |best, (point, index)| {
            let found = (square(position[0] - point.x, position[1] - point.y), index);
            if found < best { found } else { best }
        })
    };
    let (mut likely, mut least) = (0, f64::INFINITY);
    for (stretch, bounds) in stretches.iter().enumerate() {
        let distance = to_box(bounds);
        if distance < least {
            (likely, least) = (stretch, distance);
        }
    }
    let mut best = nearer_in(likely, (f64::INFINITY, 0));
    for (stretch, bounds) in stretches.iter().enumerate() {
        if stretch != likely && to_box(bounds) <= best.0 {
            best = nearer_in(stretch, best);
        }
    }
    (!points.is_empty()).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use reinfors_core::rng::{Pcg64, Seed};

    use super::super::{PathPoint, Track};
    use super::{STRETCH, nearest, of_points};

    /// What [`nearest`] is to find.
    fn first_of_the_nearest(points: &[PathPoint], position: [f64; 2]) -> Option<usize> {
        let square = |point: &PathPoint| {
            let [x, y] = [position[0] - point.x, position[1] - point.y];
            x * x + y * y
        };
        (0..points.len()).min_by(|&a, &b| square(&points[a]).total_cmp(&square(&points[b])))
    }

    #[test]
    fn the_nearest_point_is_that_of_a_plain_search() {
        let mut rng = Pcg64::from(&Seed::from(5));
        for seed in 0..20 {
            let track = Track::generate(&mut Pcg64::from(&Seed::from(seed)));
            let points = track.points();
            for spread in [10.0, 300.0, 1e6] {
                for _ in 0..200 {
                    let position = [0, 1].map(|_| spread * (2.0 * rng.next_f64() - 1.0));
                    assert_eq!(track.nearest(position), first_of_the_nearest(points, position));
                }
            }
            for (index, point) in points.iter().enumerate() {
                assert_eq!(track.nearest([point.x, point.y]), Some(index));
            }
        }
    }

    #[test]
    fn of_points_as_near_as_each_other_the_first_is_taken() {
        let point = |x, y| PathPoint { alpha: 0.0, beta: 0.0, x, y };
        // Seen from the origin, the second box is nearer than any point of the first, but none of its own points is.
        let points = [&[point(5.0, 0.0); STRETCH][..], &[point(3.0, 4.0), point(4.0, 3.0)]].concat();
        let stretches = of_points(&points);
        for position in [[0.0, 0.0], [3.5, 3.5], [9.0, 9.0], [-1e300, -1e300]] {
            assert_eq!(nearest(&points, &stretches, position), first_of_the_nearest(&points, position));
        }
        assert_eq!(nearest(&points, &stretches, [0.0, 0.0]), Some(0));
    }

    #[test]
    fn without_points_there_is_no_nearest() {
        assert_eq!(Track::default().nearest([0.0, 0.0]), None);
    }
}
