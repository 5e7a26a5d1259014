//! One folder per game; this file is the list.

mod car_racing;
mod cart_pole;
mod frame;
mod picture;
mod simple_spread;

use reinfors_core::{Registration, Registry};
/// The instructions that games are drawn and stepped with.
pub use reinfors_math::cpu::Level;

/// Every game, in the order in which they are listed everywhere.
static GAMES: [Registration; 3] = [
    Registration::of::<car_racing::CarRacing>(),
    Registration::of::<cart_pole::CartPole>(),
    Registration::of::<simple_spread::SimpleSpread>(),
];

/// The games by name.
#[must_use]
pub fn registry() -> &'static Registry {
    static REGISTRY: Registry = Registry::new(&GAMES);
    &REGISTRY
}
