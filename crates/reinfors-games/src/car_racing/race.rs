//! A race: track, car, contacts and reward of Gymnasium's `CarRacing-v3`, step by step, without pictures.
//!
//! 1. A step is: control, drive with the tiles touched so far, contacts at the transforms of the step before,
//!    physics, reward.
//! 2. `reset` ends with a step that nobody controls. What it visits is paid with the first real step.
//! 3. A reward is the difference of running totals in double precision. There are two: the score, with the
//!    reference's weights, which the picture shows, and the caller's.

mod pose;

use std::sync::Arc;

use reinfors_core::rng::{Pcg64, Seed};
use serde::{Deserialize, Serialize};

use super::car::{Car, Control, DT};
use super::colours::{Colours, drawn};
use super::contact::Contacts;
use super::track::{Laid, PLAYFIELD, Part, PathPoint, Track};

/// What each event pays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// For all tiles together; a new tile pays its share.
    pub tile: f64,
    /// For every step.
    pub step: f64,
    /// In place of the reward of a step that ends off the playfield.
    pub off_playfield: f64,
}

impl Weights {
    /// The weights of the reference.
    pub const REFERENCE: Self = Self { tile: 1000.0, step: -0.1, off_playfield: -100.0 };
}

/// What stays the same over all resets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// The first visit of the first tile ends the lap if more than this share of the tiles was visited. (It
    /// is visited at the start, so that in practice a lap ends with the last tile.)
    pub lap_complete_percent: f64,
    /// Whether each reset draws colours.
    pub domain_randomize: bool,
    /// What the caller's reward is made of.
    pub weights: Weights,
}

impl Default for Rules {
    fn default() -> Self {
        Self { lap_complete_percent: 0.95, domain_randomize: false, weights: Weights::REFERENCE }
    }
}

/// Why an episode is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// All tiles are visited, or the lap ended at the first tile.
    LapFinished,
    /// The car is off the playfield.
    OffPlayfield,
}

/// What a step led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The reward with the caller's weights.
    pub reward: f64,
    /// Why the episode is over, if it is. Stepping on is allowed and goes on as in the reference.
    pub end: Option<End>,
}

/// A running total and where it stood when a reward was last taken from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Account {
    total: f64,
    taken: f64,
}

impl Account {
    /// Pays for new tiles, one by one: the order of additions decides the last bit.
    fn pay_tiles(&mut self, weights: &Weights, new_tiles: u32, tiles: usize) {
        for _ in 0..new_tiles {
            self.total += weights.tile / tiles as f64;
        }
    }

    fn take(&mut self) -> f64 {
        let reward = self.total - self.taken;
        self.taken = self.total;
        reward
    }
}

/// One race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Race {
    rules: Rules,
    rng: Pcg64,
    colours: Colours,
    track: Arc<Track>,
    road_colours: Vec<[u8; 3]>,
    car: Car,
    contacts: Contacts,
    score: Account,
    paid: Account,
    observed_score: f64,
    time: f64,
    new_lap: bool,
}

impl Race {
    /// A race whose unseeded resets draw from `entropy`. There is no track before the first reset.
    pub fn new(rules: Rules, entropy: &Seed) -> Self {
        let mut rng = Pcg64::from(entropy);
        let colours = if rules.domain_randomize { Colours::random(&mut rng) } else { Colours::default() };
        let nowhere = PathPoint { alpha: 0.0, beta: 0.0, x: 0.0, y: 0.0 };
        Self {
            rules,
            rng,
            colours,
            track: Arc::default(),
            road_colours: Vec::new(),
            car: Car::at(&nowhere),
            contacts: Contacts::default(),
            score: Account::default(),
            paid: Account::default(),
            observed_score: 0.0,
            time: 0.0,
            new_lap: false,
        }
    }

    /// Starts an episode: from `seed`, or where the random stream stands. `randomize` says whether the
    /// colours are drawn anew; it is of no account unless the rules say `domain_randomize`. What was laid
    /// ahead is taken if it is the track that comes next.
    pub fn reset(&mut self, seed: Option<&Seed>, randomize: bool, ahead: Option<Laid>) {
        let (rng, colours) = self.before_track(seed, randomize);
        self.colours = colours;
        (self.track, self.rng) =
            ahead.filter(|laid| laid.is_from(&rng)).unwrap_or_else(|| Laid::new(rng)).take();
        self.paint_road();
        self.contacts.reset(self.track.points().len());
        self.car = Car::at(&self.track.points()[0]);
        self.score = Account::default();
        self.paid = Account::default();
        self.time = 0.0;
        self.new_lap = false;
        self.step(None);
    }

    /// Where the random stream stands when such a reset comes to its track, and the colours drawn before.
    pub fn before_track(&self, seed: Option<&Seed>, randomize: bool) -> (Pcg64, Colours) {
        let mut rng = seed.map_or_else(|| self.rng.clone(), Pcg64::from);
        let is_random = self.rules.domain_randomize && randomize;
        let colours = if is_random { Colours::random(&mut rng) } else { self.colours };
        (rng, colours)
    }

    /// Advances by a fiftieth of a second. Without a control, which is how `reset` steps, the last one goes
    /// on, no time is charged and no reward is taken.
    pub fn step(&mut self, control: Option<Control>) -> Outcome {
        self.begin_step(control);
        self.car.advance();
        self.end_step(control.is_some())
    }

    /// The part of a step before the physics.
    pub(super) fn begin_step(&mut self, control: Option<Control>) {
        if let Some(control) = control {
            self.car.control(control);
        }
        self.car.drive(self.contacts.on_road());
        self.touch_tiles();
    }

    /// The part of a step after the physics.
    pub(super) fn end_step(&mut self, controlled: bool) -> Outcome {
        self.time += DT;
        self.observed_score = self.score.total;
        if !controlled {
            return Outcome { reward: 0.0, end: None };
        }
        self.score.total += Weights::REFERENCE.step;
        self.paid.total += self.rules.weights.step;
        self.score.take();
        let reward = self.paid.take();
        let end = self.end();
        let off_playfield = end == Some(End::OffPlayfield);
        Outcome { reward: if off_playfield { self.rules.weights.off_playfield } else { reward }, end }
    }

    fn touch_tiles(&mut self) {
        let (track, colours, plain) = (&self.track, &mut self.road_colours, drawn(self.colours.road));
        let visits = self.contacts.update(&self.car, track, |tile| {
            colours[track.quad_of_tile(tile)] = plain;
        });
        let tiles = track.points().len();
        self.score.pay_tiles(&Weights::REFERENCE, visits.new_tiles, tiles);
        self.paid.pay_tiles(&self.rules.weights, visits.new_tiles, tiles);
        if let Some(visited) = visits.at_first_tile {
            self.new_lap |= visited as f64 / tiles as f64 > self.rules.lap_complete_percent;
        }
    }

    fn end(&self) -> Option<End> {
        let position = self.car.hull().transform.position;
        let outside = |coordinate: f32| f64::from(coordinate).abs() > PLAYFIELD;
        if outside(position.x) || outside(position.y) {
            return Some(End::OffPlayfield);
        }
        let all_visited = self.contacts.visited_count() == self.track.points().len();
        (all_visited || self.new_lap).then_some(End::LapFinished)
    }

    fn paint_road(&mut self) {
        let colours = self.colours;
        self.road_colours.clear();
        self.road_colours.extend(self.track.parts().iter().map(|part| match *part {
            Part::Tile(index) => drawn(colours.fresh_tile(index)),
            Part::Kerb(index) if index % 2 == 0 => [255, 255, 255],
            Part::Kerb(_) => [255, 0, 0],
        }));
    }

    /// The same race under other rules.
    pub fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// Whether the parts fit together, as they do unless somebody wrote them by hand.
    pub fn is_consistent(&self) -> bool {
        let road_fits = self.road_colours.len() == self.track.quads().len();
        road_fits && self.contacts.fit(self.track.points().len()) && self.car.skids().fit()
    }

    /// The track; empty before the first reset.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// The colour of each quad of the track, as drawn.
    pub fn road_colours(&self) -> &[[u8; 3]] {
        &self.road_colours
    }

    /// The colours of this episode.
    pub fn colours(&self) -> &Colours {
        &self.colours
    }

    /// The car.
    pub fn car(&self) -> &Car {
        &self.car
    }

    /// The car, for the physics to move.
    pub(super) fn car_mut(&mut self) -> &mut Car {
        &mut self.car
    }

    /// The tiles that the car touches and touched.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// The sum of the reference's rewards, except that it counts no departure from the playfield
    /// (`CarRacing.reward`).
    pub fn score(&self) -> f64 {
        self.score.total
    }

    /// The score that the last observation shows: it is drawn before the step's own time is charged.
    pub fn observed_score(&self) -> f64 {
        self.observed_score
    }

    /// Seconds since the reset, its hidden step included.
    pub fn time(&self) -> f64 {
        self.time
    }
}

#[cfg(test)]
mod tests;
