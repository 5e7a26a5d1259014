//! `CartPole`: Gymnasium's `CartPole-v1`, state for state. What is controlled, seen, paid, and how it ends.
//!
//! [`motion`] is the simulation, [`view`] the drawing; here they meet the contract of a game.

mod config;
mod motion;
#[cfg(test)]
mod tests;
mod view;

use crate::frame::{Observer, Part, write_state};
use crate::picture::Studio;
use config::CartPoleOptions;
use motion::{Fall, Integrator, Motion, THETA_THRESHOLD, X_THRESHOLD};
use reinfors_core::rng::{Pcg64, Seed};
use reinfors_core::{
    Action, ActionSpace, Error, Game, Inspected, ObservationSpace, Pacing, Picture, PictureSize, ResetFlag,
    Result, RewardKey, StateEntry, Step, Turn, decode, encode,
};
use reinfors_render::Scene;
use serde::{Deserialize, Serialize};
use view::SURFACE;

/// Weights of [`CartPole::REWARD`], in its order.
const REWARD: [f64; 2] = [1.0, 0.0];
const SUTTON_BARTO_REWARD: [f64; 2] = [0.0, -1.0];

/// A cart and its pole under the caller's weights.
#[derive(Clone)]
pub struct CartPole {
    integrator: Integrator,
    alive: f64,
    fall: f64,
    state: State,
}

/// What is saved.
#[derive(Clone, Serialize, Deserialize)]
struct State {
    motion: Motion,
    rng: Pcg64,
    /// Whether a bound was passed since the reset (`steps_beyond_terminated`).
    has_fallen: bool,
}

/// What a batch draws with.
pub struct Canvas {
    parts: &'static [Part],
    scene: Scene,
    observer: Observer,
    /// Only for pictures, which few batches are asked for.
    studio: Option<Studio>,
}

impl Game for CartPole {
    const ID: &'static str = "cart_pole";
    const NAME: &'static str = "CartPole";
    const DOC: &'static str = "Balance a pole on a cart by pushing the cart: Gymnasium's CartPole-v1, seed \
        for seed. Control is one of two discrete actions, a push to the left or to the right. Observed are \
        the cart's position and velocity and the pole's angle and angular velocity, as float32; or 64x96 RGB \
        pictures; or both. Each step pays 1. An episode terminates when the cart leaves the track, 2.4 \
        metres to each side, or the pole is more than 12 degrees from upright; it is truncated after \
        max_steps steps.";
    const REWARD: &'static [RewardKey] = &[
        RewardKey {
            name: "alive",
            default: REWARD[0],
            doc: "Paid at every step up to the one that ends the episode, and where a step after it is back \
                inside.",
        },
        RewardKey {
            name: "fall",
            default: REWARD[1],
            doc: "Paid besides at the step that ends the episode, and alone at each later one that is \
                outside.",
        },
    ];
    const END_REASONS: &'static [&'static str] = &["off_track", "pole_down"];
    const RESET_FLAGS: &'static [ResetFlag] = &[];
    const STATE: &'static [StateEntry] = &[
        StateEntry::new("cart_position", "Metres to the right of the track's middle.")
            .within((2.0 * X_THRESHOLD) as f32),
        StateEntry::new("cart_velocity", "Metres per second, positive to the right."),
        StateEntry::new("pole_angle", "Radians from upright, positive to the right.")
            .within((2.0 * THETA_THRESHOLD) as f32),
        StateEntry::new("pole_angular_velocity", "Radians per second, positive to the right."),
    ];
    const PICTURE: PictureSize = PictureSize { width: SURFACE.width, height: SURFACE.height };
    type Options = CartPoleOptions;
    type Canvas = Canvas;
    type Together = ();

    fn new(options: &CartPoleOptions, weights: &[f64]) -> Result<Self> {
        options.check_frames()?;
        let &[alive, fall] = weights else {
            return Err(Error::Contradiction(format!("{} weights were given for 2 keys", weights.len())));
        };
        let [alive, fall] = match options.sutton_barto_reward {
            true if weights == REWARD || weights == SUTTON_BARTO_REWARD => SUTTON_BARTO_REWARD,
            true => {
                return Err(Error::Contradiction(format!(
                    "option sutton_barto_reward=True is a reward of its own, alive=0 and fall=-1; \
                     alive={alive} and fall={fall} cannot be given with it"
                )));
            }
            false => [alive, fall],
        };
        let state = State { motion: Motion::default(), rng: Pcg64::from(&Seed::from(0)), has_fallen: false };
        Ok(Self { integrator: options.integrator, alive, fall, state })
    }

    fn canvas(options: &CartPoleOptions) -> Canvas {
        Canvas {
            parts: options.obs.parts(),
            scene: Scene::new(SURFACE),
            observer: Observer::new(SURFACE, options.frame()),
            studio: None,
        }
    }

    fn observation_space(options: &CartPoleOptions) -> ObservationSpace {
        options.obs.space(options.frame(), Self::STATE)
    }

    fn action_space(_options: &CartPoleOptions) -> ActionSpace {
        ActionSpace::Discrete { names: ["left", "right"].map(String::from).to_vec() }
    }

    fn pacing(options: &CartPoleOptions) -> Pacing {
        let &CartPoleOptions { max_steps, frame_skip, frame_stack, .. } = options;
        Pacing { max_steps, frame_skip, frame_stack }
    }

    fn reset(&mut self, seed: Option<&Seed>, _flags: &[bool]) {
        let State { motion, rng, has_fallen } = &mut self.state;
        if let Some(seed) = seed {
            *rng = Pcg64::from(seed);
        }
        *motion = Motion::start(rng);
        *has_fallen = false;
    }

    fn step_all(turn: &mut Turn<'_, Self>, (): &mut (), steps: &mut Vec<Step>) {
        steps.extend(turn.iter_mut().map(|(world, action)| world.step(action)));
    }

    fn observe(&self, part: usize, canvas: &mut Canvas, out: &mut [u8]) {
        match canvas.parts[part] {
            Part::State => write_state(self.state.motion.numbers().map(|number| number as f32), out),
            Part::Pixels => {
                view::draw(&mut canvas.scene, &self.state.motion);
                canvas.observer.draw(&canvas.scene, out);
            }
        }
    }

    fn render(&self, canvas: &mut Canvas, size: PictureSize) -> Picture {
        let studio = Studio::fitting(&mut canvas.studio, SURFACE, size);
        view::draw(&mut studio.scene, &self.state.motion);
        studio.picture(size)
    }

    fn info(&self) -> Vec<(&'static str, bool)> {
        Vec::new()
    }

    fn inspect(&self) -> Vec<Inspected> {
        let State { motion, has_fallen, .. } = &self.state;
        vec![
            Inspected { name: "state", shape: vec![4], values: motion.numbers().to_vec() },
            Inspected { name: "has_fallen", shape: vec![], values: vec![f64::from(u8::from(*has_fallen))] },
        ]
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<()> {
        let state: State = decode(bytes)?;
        if !state.motion.numbers().iter().all(|number| number.is_finite()) {
            return Err(Error::SavedState("a number of its motion is not finite".into()));
        }
        self.state = state;
        Ok(())
    }
}

impl CartPole {
    fn step(&mut self, action: Action<'_>) -> Step {
        let State { motion, has_fallen, .. } = &mut self.state;
        motion.push(matches!(action, Action::Discrete(1)), self.integrator);
        let fall = motion.fall();
        let reward = match (fall, *has_fallen) {
            (None, _) => self.alive,
            (Some(_), false) => self.alive + self.fall,
            (Some(_), true) => self.fall,
        };
        *has_fallen |= fall.is_some();
        Step { reward, terminated: fall.map(|fall: Fall| fall as u8) }
    }
}
