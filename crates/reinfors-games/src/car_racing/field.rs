//! A field of races: those of a batch, stepped together.
//!
//! Each race drives and looks for contacts by itself; then the cars of all races move at once, in lanes. A
//! race takes the same course, bit for bit, as one that steps alone.

use reinfors_math::cpu::Level;
use reinfors_physics::island::Packs;

use super::car::{BODIES, CAR_MODEL, Control, TIME_STEP, WHEELS, WheelsOnHull};
use super::race::{Outcome, Race};

/// Cars that move in one instruction, or in two where vectors are shorter.
const LANES: usize = 8;

/// Memory for stepping races together.
pub struct Field {
    cars: Packs<LANES, BODIES, WHEELS>,
    level: Level,
}

impl Default for Field {
    fn default() -> Self {
        Self::with_level(Level::best())
    }
}

impl Field {
    /// A field without races that steps with the instructions of `level`.
    pub fn with_level(level: Level) -> Self {
        Self { cars: Packs::default(), level }
    }

    /// Lets go of all races.
    pub fn clear(&mut self) {
        self.cars.clear();
    }

    /// Begins a step of `race` and enters it behind the others.
    pub fn enter(&mut self, race: &mut Race, control: Control) {
        race.begin_step(Some(control));
        self.cars.push(race.car_mut().island_mut());
    }

    /// Moves the cars of all races that have entered.
    pub fn advance(&mut self) {
        self.cars.step::<WheelsOnHull>(&CAR_MODEL.island, &TIME_STEP, self.level);
    }

    /// Ends the step of `race`, which entered as number `index`.
    pub fn leave(&self, race: &mut Race, index: usize) -> Outcome {
        *race.car_mut().island_mut() = self.cars.get(index);
        race.end_step(true)
    }
}

#[cfg(test)]
mod tests;
