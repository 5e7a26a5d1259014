//! What the car touches: which tiles, which of them for the first time, and what that does
//! (`FrictionDetector`).
//!
//! Box2D reports contacts in an order that, in a world used before, depends on its history. That order shows
//! nowhere but in how many tiles count as visited when the first one is: two, in a fresh world, at the start
//! of every race. Here a race always goes as in a fresh world.

use serde::{Deserialize, Serialize};

use super::car::{Car, HULL_PARTS, WHEELS};
use super::track::Track;

/// Room for more tiles than a car touches, so that lists do not grow while it drives.
const USUAL_TOUCHES: usize = 32;

/// A tile and the parts of the car that touch it: bit `i` is part `i` of [`Car::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Touch {
    tile: u16,
    parts: u8,
}

impl Touch {
    fn wheels(self) -> u8 {
        self.parts >> HULL_PARTS
    }
}

/// Tiles touched now, and tiles touched ever.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contacts {
    touches: Vec<Touch>,
    visited: Vec<bool>,
    painted: Vec<bool>,
    visited_count: usize,
}

/// What [`Contacts::update`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// How many tiles a wheel touched for the first time.
    pub new_tiles: u32,
    /// How many tiles had been visited, this one included, when the first tile of the track was; if it was
    /// now.
    pub at_first_tile: Option<usize>,
}

impl Contacts {
    /// Forgets everything and makes room for `tiles` tiles.
    pub fn reset(&mut self, tiles: usize) {
        self.touches.clear();
        for flags in [&mut self.visited, &mut self.painted] {
            flags.clear();
            flags.resize(tiles, false);
        }
        self.visited_count = 0;
    }

    /// Whether these are contacts with a track of so many tiles.
    pub fn fit(&self, tiles: usize) -> bool {
        let inside = |touch: &Touch| usize::from(touch.tile) < tiles;
        self.visited.len() == tiles && self.painted.len() == tiles && self.touches.iter().all(inside)
    }

    /// Finds what `car` touches where it stands, and calls `repaint` with every tile touched for the first
    /// time: it takes on the plain colour of the road. The reference paints it again whenever a contact
    /// begins or ends, in the same colour.
    pub fn update(&mut self, car: &Car, track: &Track, mut repaint: impl FnMut(usize)) -> Visits {
        self.touches.clear();
        self.touches.reserve(USUAL_TOUCHES);
        let car_parts = car.parts();
        for (tile, polygon) in track.tiles().near(car.hull().transform.position) {
            let touches = car_parts.touches(polygon);
            let parts = touches.iter().rev().fold(0, |bits, &touches| bits << 1 | u8::from(touches));
            if parts != 0 {
                self.touches.push(Touch { tile, parts });
            }
        }
        let mut visits = Visits::default();
        // Box2D meets the newest contact first, and makes them in the order of the tiles.
        for index in (0..self.touches.len()).rev() {
            let touch = self.touches[index];
            self.paint(touch.tile, &mut repaint);
            if touch.wheels() != 0 {
                self.visit(touch.tile, &mut visits);
            }
        }
        visits
    }

    fn paint(&mut self, tile: u16, repaint: &mut impl FnMut(usize)) {
        let painted = &mut self.painted[usize::from(tile)];
        if !*painted {
            *painted = true;
            repaint(usize::from(tile));
        }
    }

    fn visit(&mut self, tile: u16, visits: &mut Visits) {
        let visited = &mut self.visited[usize::from(tile)];
        if *visited {
            return;
        }
        *visited = true;
        self.visited_count += 1;
        visits.new_tiles += 1;
        if tile == 0 {
            visits.at_first_tile = Some(self.visited_count);
        }
    }

    /// Which wheels touch the road.
    pub fn on_road(&self) -> [bool; WHEELS] {
        let wheels = self.touches.iter().fold(0, |wheels, touch| wheels | touch.wheels());
        std::array::from_fn(|index| wheels >> index & 1 == 1)
    }

    /// The tiles that a wheel touches, in rising order.
    pub fn tiles_of_wheel(&self, index: usize) -> impl Iterator<Item = usize> {
        let touched = self.touches.iter().filter(move |touch| touch.wheels() >> index & 1 == 1);
        touched.map(|touch| usize::from(touch.tile))
    }

    /// Per tile, whether a wheel ever touched it.
    pub fn visited(&self) -> &[bool] {
        &self.visited
    }

    /// Per tile, whether any part of the car ever touched it.
    pub fn painted(&self) -> &[bool] {
        &self.painted
    }

    /// How many tiles were visited.
    pub fn visited_count(&self) -> usize {
        self.visited_count
    }
}
