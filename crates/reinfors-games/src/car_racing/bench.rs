//! What a step and its frame cost on one core, for each way of drawing, 64 races side by side under uniformly
//! random actions, as in `make bench`.
//!
//! `cargo bench -p reinfors-games --bench frames [-- [ROUNDS] [exact | fast]]`. Prints, for the opening second
//! and for full zoom, the least and the median time of a round in microseconds per world. A debug build
//! refuses to be measured.

use reinfors_core::rng::{Pcg64, Seed};
use reinfors_core::{Actions, AnyBatch, OptionValue, Outcome};
use std::time::Instant;

const WORLDS: usize = 64;
const ROUNDS: usize = 300;

/// Steps until the view has zoomed in.
const OPENING: usize = 50;

/// The ways of drawing.
const WAYS: [&str; 2] = ["exact", "fast"];

/// The five discrete actions.
const ACTIONS: u64 = 5;

/// A batch with room for what it gives.
struct Course {
    batch: Box<dyn AnyBatch>,
    rng: Pcg64,
    actions: Vec<i64>,
    outcomes: Vec<Outcome>,
    observations: Vec<u8>,
}

impl Course {
    fn new(frames: &str) -> Self {
        let game = reinfors_games::registry().get("CarRacing").expect("it is in the list");
        let options = [("frames".to_owned(), OptionValue::Text(frames.to_owned()))];
        let game = game.configure(&options).expect("frames is an option");
        let bytes = game.spec().observation.parts[0].size();
        let mut batch = game.batch(&[], WORLDS).expect("default weights");
        for row in 0..WORLDS {
            batch.reset(row, Some(&Seed::from(row as u64)), &[true]);
        }
        Self {
            batch,
            rng: Pcg64::from(&Seed::from(7)),
            actions: vec![0; WORLDS],
            outcomes: vec![Outcome { reward: 0.0, terminated: None, truncated: false }; WORLDS],
            observations: vec![0; WORLDS * bytes],
        }
    }

    /// Steps and draws every world; tells how long each took, in seconds.
    fn round(&mut self) -> [f64; 2] {
        self.actions.fill_with(|| self.rng.integers(ACTIONS) as i64);
        let start = Instant::now();
        self.batch.step(Actions::Discrete(&self.actions), None, &mut self.outcomes);
        let stepped = start.elapsed();
        self.batch.observe(0, 0..WORLDS, &mut self.observations);
        std::hint::black_box(&self.observations);
        [stepped.as_secs_f64(), (start.elapsed() - stepped).as_secs_f64()]
    }
}

/// The least and the median time of a world, in microseconds.
fn summary(mut seconds: Vec<f64>) -> String {
    seconds.sort_by(f64::total_cmp);
    let micros = |seconds: f64| seconds * 1e6 / WORLDS as f64;
    format!("{:7.2} {:7.2}", micros(seconds[0]), micros(seconds[seconds.len() / 2]))
}

fn main() {
    if cfg!(debug_assertions) {
        println!("frames: not measured, this is a debug build");
        return;
    }
    let given = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let rounds: usize = given.unwrap_or(ROUNDS).max(OPENING + 1);
    println!("us per world: least, median    step              frame, opening    frame, full zoom");
    let named = |frames: &&str| std::env::args().any(|argument| argument == *frames);
    let is_one = WAYS.iter().any(named);
    for frames in WAYS.iter().copied().filter(|frames| !is_one || named(frames)) {
        let mut course = Course::new(frames);
        let times: Vec<[f64; 2]> = (0..rounds).map(|_| course.round()).collect();
        let part = |part: usize, rounds: std::ops::Range<usize>| {
            summary(times[rounds].iter().map(|times| times[part]).collect())
        };
        println!(
            "  {frames:24}  {}   {}   {}",
            part(0, 0..rounds),
            part(1, 0..OPENING),
            part(1, OPENING..rounds)
        );
    }
}
