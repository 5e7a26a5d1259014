//! `CarRacing`: Gymnasium's `CarRacing-v3`, bit for bit. What is controlled, seen, paid, and how it ends.
//!
//! [`race`] is the simulation, [`view`] the drawing; here they meet the contract of a game.

mod car;
mod colours;
mod config;
mod contact;
mod field;
mod inspect;
mod race;
mod skid;
mod state;
mod tile;
mod track;
mod view;

use crate::frame::{Observer, Part, write_state};
use crate::picture::{self, Studio};
use car::Control;
use config::CarRacingOptions;
use field::Field;
use race::{End, Outcome, Race, Rules, Weights};
use reinfors_core::rng::Seed;
use reinfors_core::{
    Action, ActionSpace, Errand, Error, Game, Inspected, ObservationSpace, Pacing, Picture, PictureSize,
    Ready, ResetFlag, Result, RewardKey, StateEntry, Step, Turn, decode, encode,
};
use reinfors_render::Scene;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use track::Laid;
use view::{Road, SURFACE, Skid, View};

/// A race under the caller's controls and weights.
#[derive(Clone)]
pub struct CarRacing {
    rules: Rules,
    controls: Arc<[Control]>,
    state: State,
    /// What was made ahead for the next reset.
    ahead: Option<Laid>,
}

/// What is saved.
#[derive(Clone, Serialize, Deserialize)]
struct State {
    race: Race,
    /// How the last step ended the episode, for `info`.
    end: Option<End>,
}

/// What a batch of races draws with.
pub struct Canvas {
    parts: &'static [Part],
    view: View,
    scene: Scene,
    observer: Observer,
    /// Only for pictures, which few batches are asked for.
    studio: Option<Box<(View, Studio)>>,
}

impl Game for CarRacing {
    const ID: &'static str = "car_racing";
    const NAME: &'static str = "CarRacing";
    const DOC: &'static str = "Drive a car around a random track, seen from above: Gymnasium's CarRacing-v3, \
        seed for seed. Control is one of five discrete actions (nothing, right, left, gas, brake), a table \
        of the caller's, or with continuous=True three numbers: steering in [-1, 1], gas and brake in [0, \
        1]. Observations are 96x96 RGB pictures with the view turning with the car, and below it the speed, \
        the wheels' speeds, the steering, the turning and the score; or a vector of such numbers; or both. \
        Each of the track's N tiles pays 1000/N at the first touch of a wheel and each step costs 0.1. An \
        episode terminates when every tile was visited, or off the playfield, which costs 100; it is \
        truncated after max_steps steps.";
    const REWARD: &'static [RewardKey] = &[
        RewardKey {
            name: "tile",
            default: Weights::REFERENCE.tile,
            doc: "Sum over the whole track: each tile pays its share when a wheel first touches it.",
        },
        RewardKey { name: "step", default: Weights::REFERENCE.step, doc: "Paid at every step." },
        RewardKey {
            name: "off_playfield",
            default: Weights::REFERENCE.off_playfield,
            doc: "Replaces the reward of a step that ends off the playfield.",
        },
    ];
    const END_REASONS: &'static [&'static str] = &["lap_finished", "off_playfield"];
    const RESET_FLAGS: &'static [ResetFlag] = &[ResetFlag {
        name: "randomize",
        default: true,
        doc: "Whether this reset draws new colours; of no account without domain_randomize.",
    }];
    const STATE: &'static [StateEntry] = state::ENTRIES;
    const PICTURE: PictureSize = view::PICTURE;
    type Options = CarRacingOptions;
    type Canvas = Canvas;
    type Together = Field;

    fn new(options: &CarRacingOptions, weights: &[f64]) -> Result<Self> {
        options.check()?;
        let &[tile, step, off_playfield] = weights else {
            return Err(Error::Contradiction(format!("{} weights were given for 3 keys", weights.len())));
        };
        let rules = Rules {
            lap_complete_percent: options.lap_complete_percent,
            domain_randomize: options.domain_randomize,
            weights: Weights { tile, step, off_playfield },
        };
        // Until the first seeded reset nothing is drawn but the colours that an unrandomised reset would
        // keep.
        let state = State { race: Race::new(rules, &Seed::from(0)), end: None };
        let controls =
            options.action_table().into_iter().map(|[steer, gas, brake]| Control { steer, gas, brake });
        Ok(Self { rules, controls: controls.collect(), state, ahead: None })
    }

    fn canvas(options: &CarRacingOptions) -> Canvas {
        let view = View::new();
        Canvas {
            parts: options.obs.parts(),
            scene: view.scene(),
            view,
            observer: Observer::new(SURFACE, options.frame()),
            studio: None,
        }
    }

    fn observation_space(options: &CarRacingOptions) -> ObservationSpace {
        options.obs.space(options.frame(), state::ENTRIES)
    }

    fn action_space(options: &CarRacingOptions) -> ActionSpace {
        if options.continuous {
            ActionSpace::Continuous { low: config::LOW.to_vec(), high: config::HIGH.to_vec() }
        } else {
            ActionSpace::Discrete { names: options.action_names() }
        }
    }

    fn pacing(options: &CarRacingOptions) -> Pacing {
        let &CarRacingOptions { max_steps, frame_skip, frame_stack, .. } = options;
        Pacing { max_steps, frame_skip, frame_stack }
    }

    fn reset(&mut self, seed: Option<&Seed>, flags: &[bool]) {
        self.state.race.reset(seed, randomize(flags), self.ahead.take());
        self.state.end = None;
    }

    fn errand(&self, seed: Option<&Seed>, flags: &[bool]) -> Option<Errand> {
        let (rng, _) = self.state.race.before_track(seed, randomize(flags));
        Some(Box::new(|| Box::new(Laid::new(rng))))
    }

    fn keep_ready(&mut self, ready: Ready) {
        self.ahead = ready.downcast().ok().map(|laid| *laid);
    }

    fn step_all(turn: &mut Turn<'_, Self>, field: &mut Field, steps: &mut Vec<Step>) {
        field.clear();
        for (game, action) in turn.iter_mut() {
            let control = game.control(action);
            field.enter(&mut game.state.race, control);
        }
        field.advance();
        for (index, (game, _)) in turn.iter_mut().enumerate() {
            let outcome = field.leave(&mut game.state.race, index);
            steps.push(game.record(outcome));
        }
    }

    fn observe(&self, part: usize, canvas: &mut Canvas, out: &mut [u8]) {
        let race = &self.state.race;
        match canvas.parts[part] {
            Part::Pixels => {
                canvas.view.observe(&mut canvas.scene, self.road(), race.colours(), &race.pose());
                canvas.observer.draw(&canvas.scene, out);
            }
            Part::State => write_state(state::vector(race), out),
        }
    }

    fn render(&self, canvas: &mut Canvas, size: PictureSize) -> Picture {
        let (race, times) = (&self.state.race, picture::times(SURFACE, size));
        let Canvas { view, studio, .. } = canvas;
        let (view, studio) = match studio {
            Some(studio) if studio.1.times() == times => &mut **studio,
            _ => &mut **studio.insert(Box::new((view.enlarged(times), Studio::new(SURFACE, times)))),
        };
        let skids = race.car().skids().iter().map(|mark| Skid::new(mark.points(), mark.on_grass));
        view.draw(&mut studio.scene, self.road(), race.colours(), &race.pose_now(), skids);
        studio.picture(size)
    }

    fn info(&self) -> Vec<(&'static str, bool)> {
        self.state.end.iter().map(|end| ("lap_finished", *end == End::LapFinished)).collect()
    }

    fn inspect(&self) -> Vec<Inspected> {
        inspect::quantities(&self.state.race)
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<()> {
        let State { race, end } = decode(bytes)?;
        if !race.is_consistent() {
            return Err(Error::SavedState("the parts of the race contradict each other".into()));
        }
        self.state = State { race: race.under(self.rules), end };
        Ok(())
    }
}

/// The only flag.
fn randomize(flags: &[bool]) -> bool {
    flags.first().copied().unwrap_or(true)
}

impl CarRacing {
    fn control(&self, action: Action<'_>) -> Control {
        match action {
            Action::Discrete(index) => self.controls[index],
            Action::Continuous(values) => Control { steer: values[0], gas: values[1], brake: values[2] },
        }
    }

    fn record(&mut self, outcome: Outcome) -> Step {
        self.state.end = outcome.end;
        let terminated = outcome.end.map(|end| match end {
            End::LapFinished => 0,
            End::OffPlayfield => 1,
        });
        Step { reward: outcome.reward, terminated }
    }

    fn road(&self) -> Road<'_> {
        let race = &self.state.race;
        let track = race.track();
        Road { quads: track.quads(), stretches: track.stretches(), colours: race.road_colours() }
    }
}
