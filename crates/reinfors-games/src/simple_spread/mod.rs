//! `SimpleSpread`: MPE2's `simple_spread_v3`, state for state. What is controlled, seen, paid, and how it ends.
//!
//! [`motion`] is the simulation, [`view`] the drawing; here they meet the contract of a game.

mod config;
mod motion;
#[cfg(test)]
mod tests;
mod view;

use crate::picture::Studio;
use config::SimpleSpreadOptions;
use motion::{Field, Vector, from};
use reinfors_core::rng::{Pcg64, Seed};
use reinfors_core::{
    ActionSpace, Actions, Error, Game, Inspected, ObservationPart, ObservationSpace, Pacing, Picture,
    PictureSize, ResetFlag, Result, RewardKey, Step, Turn, decode, encode,
};
use serde::{Deserialize, Serialize};
use view::SURFACE;

/// Numbers of a continuous action: nothing, left, right, down, up.
const CONTROLS: usize = 5;

/// Agents and landmarks under the caller's weights.
#[derive(Clone)]
pub struct SimpleSpread {
    distance: f64,
    collision: f64,
    /// Steps after which episodes can no longer end by success; `None` where they cannot at all.
    last_chance: Option<u32>,
    state: State,
}

/// What is saved.
#[derive(Clone, Serialize, Deserialize)]
struct State {
    field: Field,
    rng: Pcg64,
    steps: u32,
    /// The farthest coordinate at the reset, which pictures are scaled by (`original_cam_range`).
    reach: f64,
}

impl Game for SimpleSpread {
    const ID: &'static str = "simple_spread";
    const NAME: &'static str = "SimpleSpread";
    const DOC: &'static str = "Spread agents over landmarks without bumping into each other: MPE2's \
        simple_spread_v3, seed for seed. Several agents act at once. Control of each is one of five discrete \
        actions (nothing, left, right, down, up), or with continuous=True five numbers from 0 to 1, taken in \
        single precision, of which the right less the left and the up less the down count. Each agent \
        observes its own velocity and position, the way to every landmark, the way to every other agent, and \
        two zeros for each of these, where agents that speak would be heard: 6 numbers per agent of the \
        world, as float32. Each step costs every agent half the sum of the landmarks' distances to the \
        agents nearest to them, and each agent half a point for every other one that it touches. An episode \
        is truncated after max_steps steps.";
    const REWARD: &'static [RewardKey] = &[
        RewardKey {
            name: "distance",
            default: -0.5,
            doc: "Paid to every agent at every step, times the sum of the landmarks' distances to the agents \
                nearest to them; -(1 - r) is the reference's local_ratio=r.",
        },
        RewardKey {
            name: "collision",
            default: -0.5,
            doc: "Paid to an agent at every step for each other one that it touches; -r is the reference's \
                local_ratio=r.",
        },
    ];
    const END_REASONS: &'static [&'static str] = &["all_covered"];
    const RESET_FLAGS: &'static [ResetFlag] = &[];
    const PICTURE: PictureSize = PictureSize { width: SURFACE.width, height: SURFACE.height };
    type Options = SimpleSpreadOptions;
    /// Only for pictures, which few batches are asked for.
    type Canvas = Option<Studio>;
    /// The pushes of one world's agents.
    type Together = Vec<Vector>;

    fn new(options: &SimpleSpreadOptions, weights: &[f64]) -> Result<Self> {
        let &[distance, collision] = weights else {
            return Err(Error::Contradiction(format!("{} weights were given for 2 keys", weights.len())));
        };
        let last = options.max_steps.map_or(u32::MAX, |max_steps| max_steps.get() - 1);
        let field = Field::new(Self::n_agents(options));
        Ok(Self {
            distance,
            collision,
            last_chance: options.terminate_on_success.then_some(last),
            state: State { field, rng: Pcg64::from(&Seed::from(0)), steps: 0, reach: 0.0 },
        })
    }

    fn canvas(_options: &SimpleSpreadOptions) -> Option<Studio> {
        None
    }

    fn n_agents(options: &SimpleSpreadOptions) -> usize {
        options.n_agents.get() as usize
    }

    fn observation_space(options: &SimpleSpreadOptions) -> ObservationSpace {
        ObservationSpace::of(ObservationPart {
            shape: vec![6 * Self::n_agents(options)],
            ..ObservationPart::state(&[])
        })
    }

    fn action_space(options: &SimpleSpreadOptions) -> ActionSpace {
        if options.continuous {
            return ActionSpace::Continuous { low: vec![0.0; CONTROLS], high: vec![1.0; CONTROLS] };
        }
        let names = ["no_action", "move_left", "move_right", "move_down", "move_up"];
        ActionSpace::Discrete { names: names.map(String::from).to_vec() }
    }

    fn pacing(options: &SimpleSpreadOptions) -> Pacing {
        Pacing { max_steps: options.max_steps, ..Pacing::default() }
    }

    fn reset(&mut self, seed: Option<&Seed>, _flags: &[bool]) {
        let State { field, rng, steps, reach } = &mut self.state;
        if let Some(seed) = seed {
            *rng = Pcg64::from(seed);
        }
        field.start(rng);
        *steps = 0;
        *reach = field.reach();
    }

    fn step_all(turn: &mut Turn<'_, Self>, pushes: &mut Vec<Vector>, steps: &mut Vec<Step>) {
        for (world, actions) in turn.teams_mut() {
            world.step(actions, pushes, steps);
        }
    }

    fn observe(&self, _part: usize, _canvas: &mut Option<Studio>, out: &mut [u8]) {
        let Field { agents, landmarks } = &self.state.field;
        let (mut numbers, _) = out.as_chunks_mut();
        let mut write = |vector: Vector| {
            for number in vector {
                let (first, rest) = std::mem::take(&mut numbers).split_first_mut().expect("6 for each agent");
                *first = (number as f32).to_ne_bytes();
                numbers = rest;
            }
        };
        for (index, agent) in agents.iter().enumerate() {
            write(agent.velocity);
            write(agent.position);
            landmarks.iter().for_each(|landmark| write(from(agent.position, *landmark)));
            let others = || agents.iter().enumerate().filter(|(other, _)| *other != index);
            others().for_each(|(_, other)| write(from(agent.position, other.position)));
            others().for_each(|_| write([0.0; 2]));
        }
    }

    fn render(&self, studio: &mut Option<Studio>, size: PictureSize) -> Picture {
        let studio = Studio::fitting(studio, SURFACE, size);
        view::draw(&mut studio.scene, &self.state.field, self.state.reach);
        studio.picture(size)
    }

    fn info(&self) -> Vec<(&'static str, bool)> {
        Vec::new()
    }

    fn inspect(&self) -> Vec<Inspected> {
        let Field { agents, landmarks } = &self.state.field;
        let array = |name, vectors: Vec<Vector>| Inspected {
            name,
            shape: vec![vectors.len(), 2],
            values: vectors.into_flattened(),
        };
        vec![
            array("positions", agents.iter().map(|agent| agent.position).collect()),
            array("velocities", agents.iter().map(|agent| agent.velocity).collect()),
            array("landmarks", landmarks.clone()),
        ]
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<()> {
        let state: State = decode(bytes)?;
        let (here, there) = (&self.state.field, &state.field);
        if (there.agents.len(), there.landmarks.len()) != (here.agents.len(), here.landmarks.len()) {
            return Err(Error::SavedState("it has another number of agents or landmarks".into()));
        }
        let places = there.agents.iter().flat_map(|agent| [agent.position, agent.velocity]);
        if !places.chain(there.landmarks.iter().copied()).flatten().all(f64::is_finite) {
            return Err(Error::SavedState("a number of its motion is not finite".into()));
        }
        self.state = state;
        Ok(())
    }
}

impl SimpleSpread {
    fn step(&mut self, actions: Actions<'_>, pushes: &mut Vec<Vector>, steps: &mut Vec<Step>) {
        let State { field, steps: step, .. } = &mut self.state;
        pushes.clear();
        match actions {
            Actions::Discrete(indices) => pushes.extend(indices.iter().map(|index| match index {
                1 => [-1.0, 0.0],
                2 => [1.0, 0.0],
                3 => [0.0, -1.0],
                4 => [0.0, 1.0],
                _ => [0.0, 0.0],
            })),
            Actions::Continuous(values) => {
                let (controls, _) = values.as_chunks::<CONTROLS>();
                pushes.extend(controls.iter().map(|control| {
                    let [_, left, right, down, up] = control.map(|value| (value as f32).clamp(0.0, 1.0));
                    [f64::from(right - left), f64::from(up - down)]
                }));
            }
        }
        field.advance(pushes);
        let is_success = self.last_chance.is_some_and(|last| *step < last) && field.is_covered();
        *step = step.saturating_add(1);
        let shared = self.distance * field.distance();
        steps.extend((0..field.agents.len()).map(|agent| Step {
            reward: shared + self.collision * field.collisions(agent) as f64,
            terminated: is_success.then_some(0),
        }));
    }
}
