//! What a window tells of itself: episodes that ended, where the time went, how old the policy was, what to
//! change.

use crate::clock::Moment;
use crate::config::cores;
use std::collections::BTreeMap;
use std::time::Duration;

/// An episode that ended in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Sum of its rewards, undiscounted.
    pub total_reward: f64,
    /// Its number of steps.
    pub length: u32,
    /// One of the game's end reasons, or `"max_steps"`; the end reason where both apply.
    pub ended: &'static str,
    /// The slot it was played in.
    pub slot: usize,
    /// The seed it was reset with: `reset(seed=seed)` starts this very episode anywhere.
    pub seed: u64,
}

/// Wall-clock seconds of a window; the parts of the parallel section are split by what the threads did in it.
/// Where one half of the games is stepped while the other one is asked about, both count in full.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Stepping and resetting games.
    pub step: f64,
    /// Drawing observations.
    pub render: f64,
    /// Inside `infer`.
    pub infer: f64,
    /// Between the last batch and the start of this window: the games stood still.
    pub wait: f64,
    /// Waiting for and filling this window, everything up to here included.
    pub total: f64,
    /// Between the end of the window and the hand-over: the batch lay in the queue.
    pub queue: f64,
    /// Inside the call that took the batch: the learner stood still.
    pub learner_wait: f64,
}

/// How old the policy that acted was at the moment the batch was handed over, in versions (current minus
/// acting, negative where the caller has set the version to a lower number since) or in updates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lag {
    /// The newest record's.
    pub min: i64,
    /// Over all records.
    pub mean: f64,
    /// The oldest record's.
    pub max: i64,
    /// Records by lag, the lowest first.
    pub histogram: Vec<(i64, usize)>,
}

impl Lag {
    /// The lag of steps of `n_slots` records each.
    #[must_use]
    pub fn of(lags: impl Iterator<Item = i64>, n_slots: usize) -> Self {
        let mut records: BTreeMap<i64, usize> = BTreeMap::new();
        lags.for_each(|lag| *records.entry(lag).or_default() += n_slots);
        let (Some((&min, _)), Some((&max, _))) = (records.first_key_value(), records.last_key_value()) else {
            return Self::default();
        };
        let n_records: usize = records.values().sum();
        let sum: f64 = records.iter().map(|(lag, count)| *lag as f64 * *count as f64).sum();
        Self { min, mean: sum / n_records as f64, max, histogram: records.into_iter().collect() }
    }
}

/// How a batch reaches its learner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandOver {
    /// When it does.
    pub now: Moment,
    /// How long it lay in the queue.
    pub queue: Duration,
    /// How long the learner waited for it.
    pub learner_wait: Duration,
    /// Whether it was collected while the learner did something else.
    pub is_streamed: bool,
}

impl HandOver {
    /// To the caller that has waited for all of it.
    pub fn at_once(now: Moment, learner_wait: Duration) -> Self {
        Self { now, queue: Duration::ZERO, learner_wait, is_streamed: false }
    }
}

/// What held the window up most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bottleneck {
    /// Stepping and drawing.
    #[default]
    Sampler,
    /// The caller's network.
    Inference,
    /// Whoever takes the batches.
    Learner,
}

impl Bottleneck {
    /// The largest part of the time.
    #[must_use]
    pub fn of(seconds: &Seconds) -> Self {
        let sampler = seconds.step + seconds.render;
        if seconds.wait > seconds.infer && seconds.wait > sampler {
            Self::Learner
        } else if seconds.infer > sampler {
            Self::Inference
        } else {
            Self::Sampler
        }
    }

    /// `"sampler"`, `"inference"` or `"learner"`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sampler => "sampler",
            Self::Inference => "inference",
            Self::Learner => "learner",
        }
    }
}

/// What a window tells of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// Windows this engine has finished before this one.
    pub window: u64,
    /// Episodes that ended, in the order of their last steps, then of slots.
    pub episodes: Vec<Episode>,
    /// Where the time went.
    pub seconds: Seconds,
    /// Records per second of `seconds.total`.
    pub steps_per_second: f64,
    /// Age of the policy that acted, in versions.
    pub lag: Lag,
    /// Age of the policy that acted, in updates.
    pub lag_in_updates: Lag,
    /// Share of the actions that an ε-greedy policy drew uniformly; `None` for another policy.
    pub epsilon: Option<f64>,
    /// What to change first.
    pub bottleneck: Bottleneck,
    /// One line: how.
    pub advice: &'static str,
    /// When each step was decided.
    pub(crate) moments: Vec<Moment>,
    pub(crate) n_slots: usize,
    pub(crate) limit: Limit,
}

/// What keeps more cores from stepping and drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Limit {
    /// There are no more.
    #[default]
    Cores,
    /// The engine was given fewer threads.
    Threads,
    /// Each game has a thread already.
    Games,
    /// Foreign worlds are stepped on one thread.
    Foreign,
}

impl Limit {
    /// That of an engine.
    pub fn of(n_threads: usize, n_games: usize, is_foreign: bool) -> Self {
        if is_foreign {
            Self::Foreign
        } else if n_threads >= cores() {
            Self::Cores
        } else if n_threads < n_games {
            Self::Threads
        } else {
            Self::Games
        }
    }
}

impl Telemetry {
    /// Adds what is known when the batch is handed over.
    pub(crate) fn hand_over(&mut self, how: &HandOver) {
        self.seconds.queue = how.queue.as_secs_f64();
        self.seconds.learner_wait = how.learner_wait.as_secs_f64();
        let versions = self.moments.iter().map(|acted| how.now.version.saturating_sub(acted.version));
        let updates = self.moments.iter().map(|acted| (how.now.updates - acted.updates) as i64);
        (self.lag, self.lag_in_updates) = (Lag::of(versions, self.n_slots), Lag::of(updates, self.n_slots));
        self.bottleneck = Bottleneck::of(&self.seconds);
        self.advice = self.advice(how.is_streamed);
    }

    fn advice(&self, is_streamed: bool) -> &'static str {
        let is_drawing = self.seconds.render > self.seconds.step;
        match (self.bottleneck, is_drawing, self.limit) {
            (Bottleneck::Inference, ..) => {
                "infer takes longest: use a smaller or faster network, or more n_games so that each call \
                 pools more rows"
            }
            (Bottleneck::Learner, ..) if is_streamed => {
                "the games wait for the learner: train on a faster device or with fewer epochs; collecting \
                 faster changes nothing"
            }
            (Bottleneck::Learner, ..) => {
                "the games stand still while you train: use collect_stream, which collects meanwhile"
            }
            (Bottleneck::Sampler, _, Limit::Foreign) => {
                "stepping takes longest, in the worlds' own code: make that faster, or use more workers"
            }
            (Bottleneck::Sampler, true, Limit::Threads) => {
                "drawing takes longest: use more n_threads, or a smaller or simpler observation"
            }
            (Bottleneck::Sampler, true, Limit::Games) => {
                "drawing takes longest, on one core per game: use more n_games, or a smaller or simpler observation"
            }
            (Bottleneck::Sampler, true, Limit::Cores) => {
                "drawing takes longest, on all cores: use a smaller or simpler observation, or skip frames"
            }
            (Bottleneck::Sampler, false, Limit::Threads) => "stepping takes longest: use more n_threads",
            (Bottleneck::Sampler, false, Limit::Games) => {
                "stepping takes longest, on one core per game: use more n_games"
            }
            (Bottleneck::Sampler, false, Limit::Cores) => {
                "stepping takes longest, on all cores: collect on a machine with more of them"
            }
        }
    }
}

/// Times taken while a window is filled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// Stepping and resetting, summed over the threads.
    pub step: Duration,
    /// Drawing, summed over the threads.
    pub render: Duration,
    /// Wall clock of the parallel sections.
    pub parallel: Duration,
    pub infer: Duration,
    pub wait: Duration,
    pub total: Duration,
}

impl Timing {
    pub(crate) fn seconds(&self) -> Seconds {
        let worked = (self.step + self.render).as_secs_f64();
        let share = |part: Duration| {
            if worked > 0.0 { self.parallel.as_secs_f64() * part.as_secs_f64() / worked } else { 0.0 }
        };
        Seconds {
            step: share(self.step),
            render: share(self.render),
            infer: self.infer.as_secs_f64(),
            wait: self.wait.as_secs_f64(),
            total: self.total.as_secs_f64(),
            ..Seconds::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_of_the_time_is_the_bottleneck() {
        let of = |step, render, infer, wait| {
            Bottleneck::of(&Seconds { step, render, infer, wait, ..Seconds::default() }).name()
        };
        assert_eq!(of(2.0, 2.0, 3.0, 3.0), "sampler");
        assert_eq!(of(1.0, 1.0, 3.0, 2.0), "inference");
        assert_eq!(of(1.0, 1.0, 3.0, 4.0), "learner");
        assert_eq!(of(0.0, 0.0, 0.0, 0.0), "sampler");
    }

    fn handed_over(moments: &[(i64, u64)], version: i64, updates: u64) -> Telemetry {
        let moments = moments.iter().map(|&(version, updates)| Moment { version, updates }).collect();
        let mut telemetry = Telemetry { moments, n_slots: 2, ..Telemetry::default() };
        telemetry.hand_over(&HandOver::at_once(Moment { version, updates }, Duration::ZERO));
        telemetry
    }

    #[test]
    fn lag_is_counted_in_versions_and_in_updates() {
        let telemetry = handed_over(&[(30, 3), (40, 4), (40, 4), (50, 5)], 60, 6);
        let histogram = vec![(10, 2), (20, 4), (30, 2)];
        assert_eq!(telemetry.lag, Lag { min: 10, mean: 20.0, max: 30, histogram });
        let histogram = vec![(1, 2), (2, 4), (3, 2)];
        assert_eq!(telemetry.lag_in_updates, Lag { min: 1, mean: 2.0, max: 3, histogram });
        assert_eq!(handed_over(&[], 6, 1).lag, Lag::default());
    }

    #[test]
    fn lag_in_versions_is_negative_where_the_current_one_is_lower() {
        let telemetry = handed_over(&[(100, 0), (5, 1)], 5, 1);
        assert_eq!((telemetry.lag.min, telemetry.lag.mean, telemetry.lag.max), (-95, -47.5, 0));
        assert_eq!((telemetry.lag_in_updates.min, telemetry.lag_in_updates.max), (0, 1));
        assert_eq!(handed_over(&[(i64::MIN, 0)], i64::MAX, 0).lag.max, i64::MAX);
    }

    #[test]
    fn advice_fits_the_bottleneck_the_way_of_collecting_and_the_cores() {
        let advice = |seconds: Seconds, is_streamed, limit| {
            let mut telemetry = Telemetry { seconds, limit, ..Telemetry::default() };
            let how = HandOver::at_once(Moment::default(), Duration::ZERO);
            telemetry.hand_over(&HandOver { is_streamed, ..how });
            telemetry.advice
        };
        let waiting = Seconds { wait: 1.0, ..Seconds::default() };
        assert!(advice(waiting, false, Limit::Threads).contains("collect_stream"));
        assert!(!advice(waiting, true, Limit::Threads).contains("collect_stream"));
        let drawing = Seconds { render: 1.0, ..Seconds::default() };
        let stepping = Seconds { step: 1.0, ..Seconds::default() };
        for seconds in [drawing, stepping] {
            assert!(advice(seconds, true, Limit::Threads).contains("use more n_threads"));
            assert!(advice(seconds, true, Limit::Games).contains("use more n_games"));
            assert!(advice(seconds, true, Limit::Cores).contains("on all cores"));
            assert!(advice(seconds, true, Limit::Foreign).contains("more workers"));
        }
        assert!(advice(Seconds { infer: 1.0, ..Seconds::default() }, true, Limit::Games).contains("n_games"));
    }

    #[test]
    fn more_threads_are_advised_only_where_they_would_be_used() {
        let many = cores();
        assert_eq!(Limit::of(many, 64 + many, false), Limit::Cores);
        assert_eq!(Limit::of(1, 64, true), Limit::Foreign);
        if many > 1 {
            assert_eq!(Limit::of(1, 2, false), Limit::Threads);
            assert_eq!(Limit::of(1, 1, false), Limit::Games);
        }
    }

    #[test]
    fn the_wall_clock_of_the_parallel_sections_is_split_by_the_work_done_in_them() {
        let millis = Duration::from_millis;
        let timing = Timing {
            step: millis(300),
            render: millis(900),
            parallel: millis(400),
            infer: millis(50),
            wait: millis(20),
            total: millis(500),
        };
        let seconds = timing.seconds();
        assert!((seconds.step - 0.1).abs() < 1e-12 && (seconds.render - 0.3).abs() < 1e-12);
        assert_eq!((seconds.infer, seconds.wait, seconds.total), (0.05, 0.02, 0.5));
    }
}
