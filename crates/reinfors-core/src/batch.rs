//! A row of worlds behind one virtual call: the only place where the type of the game is erased.

use crate::codec::{decode, encode};
use crate::frames::FrameStack;
use crate::rng::Seed;
use crate::{
    Action, Actions, CancelToken, Errand, Error, Failure, Game, Inspected, ObservationPart, OptionValue,
    Options, Pacing, Picture, PictureSize, Ready, Result, Step,
};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// What one decision did to one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Reward under the caller's weights, summed over the steps that the action was repeated for.
    pub reward: f64,
    /// Index into the game's end reasons when the episode has terminated.
    pub terminated: Option<u8>,
    /// Whether the episode has reached `max_steps`. Both can be true at once.
    pub truncated: bool,
}

impl Outcome {
    /// Whether the episode is over, either way.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.truncated || self.terminated.is_some()
    }

    /// How the episode has ended: one of the game's `end_reasons`, which wins where both apply, or
    /// `"max_steps"`.
    #[must_use]
    pub fn reason(&self, end_reasons: &[&'static str]) -> &'static str {
        let Some(reason) = self.terminated else { return "max_steps" };
        end_reasons.get(usize::from(reason)).copied().unwrap_or("terminated")
    }
}

/// Memory for drawing rows of a batch while other threads draw others; only the batch knows what it is.
pub type AnyCanvas = Box<dyn Any + Send>;

/// Worlds of one game, stepped together. Rows are independent: what one does never changes another.
///
/// A row is a world. Its agents, [`crate::GameSpec::n_agents`] of them, are neighbours in actions, outcomes and
/// observations, which hold one entry per agent of each row; all else is of worlds.
pub trait AnyBatch: Send + Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts an episode in `row`; see [`Game::reset`]. The first reset of a row is seeded.
    fn reset(&mut self, row: usize, seed: Option<&Seed>, flags: &[bool]);

    /// The costly part of the next reset of `row`, if it is going to be this one; see [`Game::errand`].
    fn errand(&self, _row: usize, _seed: Option<&Seed>, _flags: &[bool]) -> Option<Errand> {
        None
    }

    /// Keeps what an errand has made for the next reset of `row`.
    fn keep_ready(&mut self, _row: usize, _ready: Ready) {}

    /// Steps every row, or those that `active` marks; the outcomes of the others are left as they are. An
    /// action is repeated as often as the game's [`Pacing`] says, unless the episode ends before. The actions
    /// have passed [`crate::ActionSpace::check`].
    fn step(&mut self, actions: Actions<'_>, active: Option<&[bool]>, outcomes: &mut [Outcome]);

    /// Draws one part of the observations of the agents of `rows` into `out`, one behind the other.
    fn observe(&mut self, part: usize, rows: Range<usize>, out: &mut [u8]);

    /// A canvas for [`AnyBatch::draw`], which fits every batch of this game and these options.
    fn canvas(&self) -> AnyCanvas;

    /// Makes what was put off until somebody looks, before [`AnyBatch::draw`].
    fn settle(&mut self) {}

    /// Draws one part of the observation of one row, as [`AnyBatch::observe`] does: for several threads at
    /// once, each with its own rows and its own canvas.
    fn draw(&self, part: usize, row: usize, canvas: &mut AnyCanvas, out: &mut [u8]);

    /// Draws the picture for people of one row, in the game's own size where none is named.
    ///
    /// # Errors
    /// Those of [`PictureSize::check`].
    fn render(&mut self, row: usize, size: Option<PictureSize>) -> Result<Picture>;

    /// What the reference environment reports in `info` after the last step of a row.
    fn info(&self, row: usize) -> Vec<(&'static str, bool)>;

    /// Inner state of one row.
    fn inspect(&self, row: usize) -> Vec<Inspected>;

    /// One row as bytes, from which [`AnyBatch::load`] continues exactly.
    fn save(&self, row: usize) -> Vec<u8>;

    /// Replaces one row by a saved one.
    ///
    /// # Errors
    /// [`Error::SavedState`] for another game, another option (named) or damaged bytes; the row is then
    /// unchanged.
    fn load(&mut self, row: usize, bytes: &[u8]) -> Result<()>;

    /// Remembers the state of every row.
    fn checkpoint(&mut self);

    /// Puts every row back to the last [`AnyBatch::checkpoint`]. Whether it could: native games always can,
    /// rows of others may have to be reset instead.
    fn rollback(&mut self) -> bool;

    /// What is asked of the worlds from now on is wanted until the token is cancelled. Only worlds that live
    /// elsewhere make anybody wait so long that it matters.
    fn heed(&mut self, _token: &CancelToken) {}

    /// What has kept the worlds from what they were asked for since the last call. Only worlds that live
    /// elsewhere fail; their batch is to be rolled back, or its rows reset.
    fn take_failure(&mut self) -> Option<Failure> {
        None
    }
}

/// The batch of any game.
pub struct Batch<G: Game> {
    options: G::Options,
    pacing: Pacing,
    n_agents: usize,
    worlds: Vec<World<G>>,
    /// One for each part of the observation; `None` where nothing is stacked.
    stacks: Vec<Option<FrameStack>>,
    remembered: (Vec<World<G>>, Vec<Option<FrameStack>>),
    /// For rows that are drawn by [`AnyBatch::observe`]. Nobody locks it: it is reached by its owner alone.
    canvas: Mutex<G::Canvas>,
    together: G::Together,
    /// What the last step did to the agents of the active worlds.
    stepped: Vec<Step>,
    /// Rows whose action still has steps to go.
    running: Vec<bool>,
    /// What all agents of a world observe.
    parts: Vec<ObservationPart>,
    /// Numbers of the actions of all agents of a world.
    action_len: usize,
}

/// The active worlds of a batch, each with its actions: what [`Game::step_all`] is to step.
pub struct Turn<'a, G> {
    worlds: &'a mut [World<G>],
    active: Option<&'a [bool]>,
    actions: Actions<'a>,
    action_len: usize,
}

/// A world and how many steps of the simulator its episode is old.
#[derive(Clone)]
struct World<G> {
    game: G,
    steps: u32,
}

/// What a saved row says of itself, so that it is refused by name where it does not fit.
#[derive(Serialize, Deserialize)]
struct SavedRow {
    format: u32,
    game: String,
    options: Vec<(String, OptionValue)>,
    steps: u32,
    state: Vec<u8>,
    /// Of each part that is stacked: the frames before the current one.
    frames: Vec<Vec<u8>>,
}

const SAVED_ROW_FORMAT: u32 = 2;

impl<G: Game> Batch<G> {
    /// `len` worlds, not reset yet.
    ///
    /// # Errors
    /// Those of [`Game::new`].
    pub fn new(options: &G::Options, weights: &[f64], len: usize) -> Result<Self> {
        let world = World { game: G::new(options, weights)?, steps: 0 };
        let (pacing, n_agents) = (G::pacing(options), G::n_agents(options));
        let parts = G::observation_space(options).parts;
        let parts: Vec<_> = parts.into_iter().map(|part| part.of_agents(n_agents)).collect();
        let depth = pacing.frame_stack.get() as usize;
        Ok(Self {
            options: options.clone(),
            pacing,
            n_agents,
            worlds: vec![world; len],
            stacks: parts.iter().map(|part| FrameStack::new(part, depth, len)).collect::<Result<_>>()?,
            remembered: (Vec::with_capacity(len), Vec::new()),
            canvas: Mutex::new(G::canvas(options)),
            together: G::Together::default(),
            stepped: Vec::with_capacity(len * n_agents),
            running: Vec::with_capacity(len),
            parts,
            action_len: n_agents * G::action_space(options).dimensions(),
        })
    }

    /// Steps worlds of `N` agents; 0 stands for a number that is not known when this is compiled, so that worlds
    /// of one pay nothing for those of several.
    fn step_teams<const N: usize>(
        &mut self,
        actions: Actions<'_>,
        active: Option<&[bool]>,
        outcomes: &mut [Outcome],
    ) {
        self.keep_frames(active);
        let Self { worlds, together, stepped, running, pacing, n_agents, action_len, .. } = self;
        let n_agents = if N == 0 { *n_agents } else { N };
        running.clear();
        running.extend((0..worlds.len()).map(|row| is_active(active, row)));
        for repetition in 0..pacing.frame_skip.get() {
            let (active, action_len) = (Some(&**running), *action_len);
            stepped.clear();
            G::step_all(&mut Turn { worlds, active, actions, action_len }, together, stepped);
            let rows = worlds.iter_mut().zip(outcomes.chunks_exact_mut(n_agents)).zip(&mut *running);
            let rows = rows.filter(|(_, running)| **running).zip(stepped.chunks_exact(n_agents));
            for (((world, outcomes), running), steps) in rows {
                world.steps = world.steps.saturating_add(1);
                let truncated = pacing.max_steps.is_some_and(|most| world.steps >= most.get());
                for (outcome, step) in outcomes.iter_mut().zip(steps) {
                    let paid = if repetition == 0 { 0.0 } else { outcome.reward };
                    *outcome = Outcome { reward: paid + step.reward, terminated: step.terminated, truncated };
                }
                *running = !outcomes[0].is_end();
            }
            if !running.contains(&true) {
                break;
            }
        }
    }

    /// Keeps the current frames of the rows that are about to move.
    fn keep_frames(&mut self, active: Option<&[bool]>) {
        let canvas = own(&mut self.canvas);
        for (part, stack) in self.stacks.iter_mut().enumerate() {
            let Some(stack) = stack else { continue };
            for (row, world) in self.worlds.iter().enumerate().filter(|(row, _)| is_active(active, *row)) {
                stack.advance(row, |out| world.game.observe(part, canvas, out));
            }
        }
    }
}

impl<G> Turn<'_, G> {
    /// The worlds of games of one agent in the order of their rows, each with its action. Can be asked for
    /// again.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&mut G, Action<'_>)> {
        let Self { worlds, active, actions, action_len } = self;
        let rows = worlds.iter_mut().enumerate().filter(|(row, _)| is_active(*active, *row));
        rows.map(|(row, world)| {
            let action = match *actions {
                Actions::Discrete(indices) => {
                    Action::Discrete(usize::try_from(indices[row]).unwrap_or_default())
                }
                Actions::Continuous(values) => {
                    Action::Continuous(&values[row * *action_len..][..*action_len])
                }
            };
            (&mut world.game, action)
        })
    }

    /// The worlds of games of several agents in the order of their rows, each with the actions of its agents.
    pub fn teams_mut(&mut self) -> impl Iterator<Item = (&mut G, Actions<'_>)> {
        let Self { worlds, active, actions, action_len } = self;
        let rows = worlds.iter_mut().enumerate().filter(|(row, _)| is_active(*active, *row));
        rows.map(|(row, world)| (&mut world.game, actions.part(row * *action_len..(row + 1) * *action_len)))
    }
}

/// Draws what is seen of a part of a world: its frame, or the stack that it is the last of.
fn draw<G: Game>(
    game: &G,
    stack: Option<&FrameStack>,
    part: usize,
    row: usize,
    canvas: &mut G::Canvas,
    out: &mut [u8],
) {
    match stack {
        Some(stack) => stack.show(row, out, |out| game.observe(part, canvas, out)),
        None => game.observe(part, canvas, out),
    }
}

fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

fn is_active(active: Option<&[bool]>, row: usize) -> bool {
    active.is_none_or(|active| active[row])
}

impl<G: Game> AnyBatch for Batch<G> {
    fn len(&self) -> usize {
        self.worlds.len()
    }

    fn reset(&mut self, row: usize, seed: Option<&Seed>, flags: &[bool]) {
        let world = &mut self.worlds[row];
        world.game.reset(seed, flags);
        world.steps = 0;
        for stack in self.stacks.iter_mut().flatten() {
            stack.begin(row);
        }
    }

    fn errand(&self, row: usize, seed: Option<&Seed>, flags: &[bool]) -> Option<Errand> {
        self.worlds[row].game.errand(seed, flags)
    }

    fn keep_ready(&mut self, row: usize, ready: Ready) {
        self.worlds[row].game.keep_ready(ready);
    }

    fn step(&mut self, actions: Actions<'_>, active: Option<&[bool]>, outcomes: &mut [Outcome]) {
        match self.n_agents {
            1 => self.step_teams::<1>(actions, active, outcomes),
            _ => self.step_teams::<0>(actions, active, outcomes),
        }
    }

    fn observe(&mut self, part: usize, rows: Range<usize>, out: &mut [u8]) {
        let Self { worlds, stacks, canvas, pacing, parts, .. } = self;
        let (stack, canvas) = (stacks[part].as_ref(), own(canvas));
        let depth = stack.map_or(1, |_| pacing.frame_stack.get() as usize);
        for (row, out) in rows.zip(out.chunks_exact_mut(depth * parts[part].size())) {
            draw(&worlds[row].game, stack, part, row, canvas, out);
        }
    }

    fn canvas(&self) -> AnyCanvas {
        Box::new(G::canvas(&self.options))
    }

    fn draw(&self, part: usize, row: usize, canvas: &mut AnyCanvas, out: &mut [u8]) {
        let canvas = canvas.downcast_mut().expect("a canvas of this game");
        draw(&self.worlds[row].game, self.stacks[part].as_ref(), part, row, canvas, out);
    }

    fn render(&mut self, row: usize, size: Option<PictureSize>) -> Result<Picture> {
        let size = size.unwrap_or(G::PICTURE);
        size.check()?;
        Ok(self.worlds[row].game.render(own(&mut self.canvas), size))
    }

    fn info(&self, row: usize) -> Vec<(&'static str, bool)> {
        self.worlds[row].game.info()
    }

    fn inspect(&self, row: usize) -> Vec<Inspected> {
        self.worlds[row].game.inspect()
    }

    fn save(&self, row: usize) -> Vec<u8> {
        let World { game, steps } = &self.worlds[row];
        let options =
            self.options.values().into_iter().map(|(name, value)| (String::from(name), value)).collect();
        encode(&SavedRow {
            format: SAVED_ROW_FORMAT,
            game: G::ID.into(),
            options,
            steps: *steps,
            state: game.save(),
            frames: self.stacks.iter().flatten().map(|stack| stack.save(row)).collect(),
        })
    }

    fn load(&mut self, row: usize, bytes: &[u8]) -> Result<()> {
        let saved: SavedRow = decode(bytes)?;
        let refuse = |why: String| Err(Error::SavedState(why));
        if saved.format != SAVED_ROW_FORMAT {
            return refuse(format!("its format is {}, this version reads {SAVED_ROW_FORMAT}", saved.format));
        }
        if saved.game != G::ID {
            return refuse(format!("it is of the game {}, this is {}", saved.game, G::ID));
        }
        for (name, value) in self.options.values() {
            match saved.options.iter().find(|(saved_name, _)| saved_name == name) {
                Some((_, saved_value)) if *saved_value == value => {}
                Some((_, saved_value)) => {
                    return refuse(format!("its option {name} is {saved_value}, here it is {value}"));
                }
                None => return refuse(format!("it was saved without the option {name}")),
            }
        }
        if saved.frames.len() != self.stacks.iter().flatten().count() {
            return refuse(format!("it has stacked frames of {} parts", saved.frames.len()));
        }
        for (stack, frames) in self.stacks.iter().flatten().zip(&saved.frames) {
            stack.check(frames)?;
        }
        self.worlds[row].game.load(&saved.state)?;
        self.worlds[row].steps = saved.steps;
        for (stack, frames) in self.stacks.iter_mut().flatten().zip(&saved.frames) {
            stack.load(row, frames);
        }
        Ok(())
    }

    fn checkpoint(&mut self) {
        let (worlds, stacks) = &mut self.remembered;
        worlds.clone_from(&self.worlds);
        stacks.clone_from(&self.stacks);
    }

    fn rollback(&mut self) -> bool {
        let (worlds, stacks) = &self.remembered;
        self.worlds.clone_from(worlds);
        self.stacks.clone_from(stacks);
        true
    }
}
