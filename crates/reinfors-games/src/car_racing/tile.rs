//! The tiles of the road as the physics sees them: single precision polygons, found by where the car is.

use reinfors_math::Vec2;
use reinfors_physics::collide::signed_gap;
use reinfors_physics::shape::Polygon;

use super::track::Quad;

/// Farthest from the hull's origin that any part of the car reaches, with a margin for joints that give way,
/// metres.
const REACH: f32 = 2.95;

/// Edge of a cell of the grid, metres: small enough that a cell lists about a dozen tiles.
const CELL: f32 = 8.0;

/// Road tiles in a grid. Each cell lists, in rising order, the tiles that a car with its origin there could
/// touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileMap {
    polygons: Vec<Polygon>,
    origin: (i32, i32),
    columns: usize,
    rows: usize,
    /// Where the list of each cell starts in `listed`, and one end.
    starts: Vec<u32>,
    listed: Vec<u16>,
}

impl TileMap {
    /// Rounds the quads to single precision, as Box2D stores them, and enters them into a grid over their
    /// bounds.
    pub fn new(quads: &[Quad]) -> Self {
        let polygons: Vec<Polygon> = quads
            .iter()
            .map(|quad| Polygon::hull(&quad.map(|[x, y]| Vec2::new(x as f32, y as f32))))
            .collect();
        let spans: Vec<Span> = polygons.iter().map(Span::of).collect();
        let Some(all) = spans.iter().copied().reduce(Span::union) else { return Self::default() };
        let mut map = Self {
            polygons,
            origin: all.low,
            columns: (all.high.0 - all.low.0 + 1) as usize,
            rows: (all.high.1 - all.low.1 + 1) as usize,
            ..Self::default()
        };
        map.fill(&spans);
        map
    }

    fn fill(&mut self, spans: &[Span]) {
        let mut starts = vec![0; self.columns * self.rows + 1];
        for cell in spans.iter().flat_map(|span| span.cells()) {
            starts[self.index(cell) + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        self.listed = vec![0; starts[starts.len() - 1] as usize];
        for (tile, span) in spans.iter().enumerate() {
            for cell in span.cells() {
                let slot = &mut next[self.index(cell)];
                self.listed[*slot as usize] = tile as u16;
                *slot += 1;
            }
        }
        self.starts = starts;
    }

    fn index(&self, (column, row): (i32, i32)) -> usize {
        (row - self.origin.1) as usize * self.columns + (column - self.origin.0) as usize
    }

    /// The tiles that a car with its origin at `position` could touch, with their indices.
    pub fn near(&self, position: Vec2) -> impl Iterator<Item = (u16, &Polygon)> {
        let (column, row) = cell(position);
        let inside = (0..self.columns as i32).contains(&(column - self.origin.0))
            && (0..self.rows as i32).contains(&(row - self.origin.1));
        let list = if inside {
            let index = self.index((column, row));
            &self.listed[self.starts[index] as usize..self.starts[index + 1] as usize]
        } else {
            &[]
        };
        list.iter()
            .map(|&tile| (tile, &self.polygons[usize::from(tile)]))
            .filter(move |(_, polygon)| signed_gap(polygon, position) <= REACH)
    }
}

/// The cell that holds a point; the farthest one for points far outside any track.
fn cell(point: Vec2) -> (i32, i32) {
    const FARTHEST: f32 = 1e6;
    let along = |coordinate: f32| (coordinate / CELL).floor().clamp(-FARTHEST, FARTHEST) as i32;
    (along(point.x), along(point.y))
}

/// The cells from which a tile can be reached.
#[derive(Clone, Copy)]
struct Span {
    low: (i32, i32),
    high: (i32, i32),
}

impl Span {
    fn of(polygon: &Polygon) -> Self {
        let vertices = polygon.vertices();
        let fold = |pick: fn(f32, f32) -> f32| {
            vertices[1..]
                .iter()
                .fold(vertices[0], |best, vertex| Vec2::new(pick(best.x, vertex.x), pick(best.y, vertex.y)))
        };
        let margin = Vec2::new(REACH, REACH);
        Self { low: cell(fold(f32::min) - margin), high: cell(fold(f32::max) + margin) }
    }

    fn union(self, other: Self) -> Self {
        Self {
            low: (self.low.0.min(other.low.0), self.low.1.min(other.low.1)),
            high: (self.high.0.max(other.high.0), self.high.1.max(other.high.1)),
        }
    }

    fn cells(&self) -> impl Iterator<Item = (i32, i32)> + use<> {
        let (columns, rows) = (self.low.0..=self.high.0, self.low.1..=self.high.1);
        rows.flat_map(move |row| columns.clone().map(move |column| (column, row)))
    }
}

#[cfg(test)]
mod tests {
    use super::{TileMap, Vec2};

    fn square(x: f64, y: f64) -> [[f64; 2]; 4] {
        [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)].map(|(u, v)| [x + u, y + v])
    }

    #[test]
    fn a_tile_is_found_from_wherever_the_car_could_touch_it() {
        let map = TileMap::new(&[square(-100.0, 50.0), square(10.0, 20.0), square(11.0, 21.0)]);
        let near = |x, y| map.near(Vec2::new(x, y)).map(|(tile, _)| tile).collect::<Vec<_>>();
        assert_eq!(near(12.0, 22.0), [1, 2]);
        assert_eq!(near(7.1, 22.0), [1]);
        assert_eq!(near(7.0, 22.0), [0; 0]);
        assert_eq!(near(-98.0, 56.9), [0]);
        assert_eq!(near(1e30, -1e30), [0; 0]);
    }

    #[test]
    fn a_map_without_tiles_finds_none() {
        let map = TileMap::new(&[]);
        assert!(map.polygons.is_empty() && map.near(Vec2::ZERO).next().is_none());
    }
}
