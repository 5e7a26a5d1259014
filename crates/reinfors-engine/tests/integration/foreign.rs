//! Worlds that live elsewhere under the engine: what a window is worth when they fail, with and without a way
//! back.

use reinfors_core::rng::Seed;
use reinfors_core::{
    ActionSpace, Actions, CancelToken, ConfiguredGame, Element, Failure, GameSpec, ObservationPart,
    ObservationSpace, Outcome, Pacing, Picture, Worlds,
};
use reinfors_engine::evaluate::{Evaluation, evaluate};
use reinfors_engine::vec_env::{AsyncVecEnv, Autoreset, VecEnv};
use reinfors_engine::{
    ActionArray, Engine, EngineConfig, EngineError, EngineErrorKind, Infer, InferError, Inference,
    ObservationView, Policy,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const ROWS: usize = 3;
/// Steps of an episode.
const LENGTH: u8 = 5;

/// Counts each episode's steps; all fail together at one step of the worlds.
struct Clocks {
    ages: Vec<u8>,
    remembered: Option<Vec<u8>>,
    can_go_back: bool,
    steps: Arc<AtomicUsize>,
    fails_at: usize,
    /// Whether it fails only when nobody wants the step any more.
    hangs: bool,
    token: CancelToken,
}

impl Worlds for Clocks {
    fn reset(&mut self, rows: &[(usize, Option<Seed>)], shown: &mut [Vec<u8>]) -> Result<(), Failure> {
        for (row, _) in rows {
            self.ages[*row] = 0;
            shown[0][*row] = 0;
        }
        Ok(())
    }

    fn step(
        &mut self,
        _actions: Actions<'_>,
        active: &[bool],
        outcomes: &mut [Outcome],
        shown: &mut [Vec<u8>],
    ) -> Result<(), Failure> {
        if self.steps.fetch_add(1, Ordering::Relaxed) + 1 == self.fails_at {
            while self.hangs && !self.token.is_cancelled() {
                thread::sleep(Duration::from_millis(1));
            }
            return Err(Failure::new("the clocks stopped"));
        }
        for row in (0..self.ages.len()).filter(|&row| active[row]) {
            self.ages[row] += 1;
            shown[0][row] = self.ages[row];
            let terminated = (self.ages[row] == LENGTH).then_some(0);
            outcomes[row] = Outcome { reward: 1.0, terminated, truncated: false };
        }
        Ok(())
    }

    fn render(&mut self, _row: usize) -> Result<Picture, Failure> {
        Err(Failure::new("nothing to see"))
    }

    fn checkpoint(&mut self) -> Result<(), Failure> {
        self.remembered = self.can_go_back.then(|| self.ages.clone());
        Ok(())
    }

    fn rollback(&mut self) -> Result<bool, Failure> {
        let Some(remembered) = &self.remembered else { return Ok(false) };
        self.ages.clone_from(remembered);
        Ok(true)
    }

    fn heed(&mut self, token: &CancelToken) {
        self.token = token.clone();
    }
}

fn clocks(fails_at: usize, can_go_back: bool) -> ConfiguredGame {
    game(fails_at, can_go_back, None)
}

/// Clocks that fail at a step, or hang there; then others see how many steps were begun.
fn game(fails_at: usize, can_go_back: bool, seen: Option<Arc<AtomicUsize>>) -> ConfiguredGame {
    let part = ObservationPart {
        name: "age",
        shape: vec![1],
        element: Element::U8,
        stack_axis: None,
        frames: 1,
        is_scattered: false,
        entries: &[],
    };
    let spec = GameSpec {
        id: "clocks",
        name: "Clocks",
        n_agents: 1,
        observation: ObservationSpace::of(part),
        action: ActionSpace::Discrete { names: vec!["wait".into(), "look".into()] },
        pacing: Pacing::default(),
        reward: &[],
        end_reasons: &["struck"],
        reset_flags: &[],
        is_foreign: true,
    };
    ConfiguredGame::foreign(spec, Vec::new(), move |len| Clocks {
        ages: vec![0; len],
        remembered: None,
        can_go_back,
        steps: seen.clone().unwrap_or_default(),
        fails_at,
        hangs: seen.is_some(),
        token: CancelToken::default(),
    })
}

/// Knows nothing.
fn answer(obs: &ObservationView, out: &mut Inference) -> Result<(), InferError> {
    out.set(&vec![0.0; 2 * obs.rows()], &vec![0.0; obs.rows()]);
    Ok(())
}

fn engine(game: ConfiguredGame) -> Engine {
    let config = EngineConfig { seed: Some(Seed::from(1)), ..EngineConfig::new(game, ROWS) };
    Engine::new(EngineConfig { n_threads: Some(8), ..config }).expect("clocks can be made")
}

#[test]
fn a_failed_window_is_taken_back_by_worlds_that_can() {
    let (untroubled, troubled) = (engine(clocks(0, true)), engine(clocks(15, true)));
    assert_eq!(troubled.n_threads(), 1, "one batch, one thread");
    let mut network = answer;
    let records = |engine: &Engine, network: &mut dyn Infer| {
        engine.collect(ROWS * 8, network).map(|batch| {
            let ActionArray::Discrete(actions) = batch.actions else { panic!("clocks are numbered") };
            (batch.step, actions)
        })
    };
    let first = records(&untroubled, &mut network).expect("nothing fails");
    let second = records(&untroubled, &mut network).expect("nothing fails");
    assert_eq!(records(&troubled, &mut network).expect("not yet"), first);
    let error = records(&troubled, &mut network).expect_err("the fifteenth step fails");
    assert!(matches!(error, EngineError::Worlds(_)) && error.kind() == EngineErrorKind::Infer);
    assert_eq!(error.to_string(), "the clocks stopped");
    assert_eq!(records(&troubled, &mut network).expect("they go again"), second);
}

#[test]
fn worlds_that_cannot_go_back_begin_new_episodes() {
    let engine = engine(clocks(10, false));
    let mut network = answer;
    let first = engine.collect(ROWS * 8, &mut network).expect("not yet");
    assert_eq!(first.last_obs.bytes(0), [3, 3, 3], "eight steps of episodes of five");
    engine.collect(ROWS * 8, &mut network).expect_err("the tenth step fails");
    let after = engine.collect(ROWS * 8, &mut network).expect("they go again");
    assert_eq!(after.step[..ROWS], [0; ROWS]);
    let seeds: Vec<u64> = first.telemetry.episodes.iter().map(|episode| episode.seed).collect();
    assert!(after.telemetry.episodes.iter().all(|episode| !seeds.contains(&episode.seed)));
}

#[test]
fn every_driver_passes_a_failure_on() {
    let mut network = answer;
    let mut envs =
        VecEnv::new(&clocks(2, false), &[], ROWS, None, Seed::from(1), Autoreset::NextStep).expect("made");
    let mut seen = envs.blank_observations().expect("memory for three bytes");
    envs.reset(&[None, None, None], &[], None, &mut seen).expect("the reset does not fail");
    let actions = [0; ROWS];
    envs.step(Actions::Discrete(&actions), &mut seen).expect("not yet");
    let failed = envs.step(Actions::Discrete(&actions), &mut seen);
    assert!(matches!(failed, Err(EngineError::Worlds(_))));
    assert!(
        matches!(envs.observe(&mut seen), Err(EngineError::NotReset { .. })),
        "nobody knows where they are"
    );

    let evaluation = Evaluation {
        game: clocks(3, false),
        reward: Vec::new(),
        policy: Policy::default(),
        state_shape: Vec::new(),
        seeds: vec![Seed::from(1), Seed::from(2)],
        deterministic: true,
        n_games: None,
        n_threads: None,
    };
    assert!(matches!(evaluate(&evaluation, &mut network, &mut |_| Ok(())), Err(EngineError::Worlds(_))));
}

#[test]
fn worlds_that_hang_are_told_when_nobody_waits_any_more() {
    let mut network = answer;
    for can_go_back in [false, true] {
        let steps = Arc::new(AtomicUsize::new(0));
        let engine = engine(game(10, can_go_back, Some(Arc::clone(&steps))));
        let stream = engine.collect_stream(ROWS * 8, Box::new(answer), 1, None).expect("free");
        stream.next().expect("not yet");
        while steps.load(Ordering::Relaxed) < 10 {
            thread::yield_now();
        }
        assert!(!stream.stop_timeout(Duration::ZERO).expect("not from inside infer"));
        stream.stop().expect("not from inside infer");
        let after = engine.collect(ROWS * 8, &mut network).expect("a use of its own");
        assert_eq!(after.step[0], if can_go_back { 3 } else { 0 });
    }
    for end in [drop, AsyncVecEnv::close] {
        let envs = VecEnv::new(
            &game(1, false, Some(Arc::default())),
            &[],
            ROWS,
            None,
            Seed::from(1),
            Autoreset::NextStep,
        );
        let mut envs = AsyncVecEnv::new(envs.expect("made"));
        let idle = envs.idle().expect("no step is under way");
        let mut seen = idle.blank_observations().expect("memory for three bytes");
        idle.reset(&[None, None, None], &[], None, &mut seen).expect("the reset does not fail");
        envs.send(Actions::Discrete(&[0; ROWS])).expect("nothing is under way");
        assert!(envs.recv_timeout(Duration::from_millis(20)).expect("it hangs").is_none());
        end(envs);
    }
}

#[test]
fn saved_states_are_refused_by_name() {
    let engine = engine(clocks(0, true));
    let refused = "Clocks cannot be saved, loaded, snapshot or restored";
    assert!(engine.snapshot().expect_err("no state").to_string().starts_with(refused));
    assert!(engine.restore(&[]).expect_err("no state").to_string().starts_with(refused));
}
