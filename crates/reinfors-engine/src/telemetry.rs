//! What a window tells of itself: episodes that ended, where the time went, how old the policy was, what to
//! change.

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
    /// Waiting for and filling this window, everything included.
    pub total: f64,
}

/// How far the version of the policy that acted was behind the current one, at the moment the batch was
/// handed over: current minus acting. Negative where the caller has set the version to a lower number since.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lag {
    /// The newest record's.
    pub min: i64,
    /// Over all records.
    pub mean: f64,
    /// The oldest record's.
    pub max: i64,
}

impl Lag {
    /// The lag of records made by `versions` when the version is `current`.
    #[must_use]
    pub fn of(versions: &[i64], current: i64) -> Self {
        let lags = || versions.iter().map(|version| current.saturating_sub(*version));
        let (Some(min), Some(max)) = (lags().min(), lags().max()) else { return Self::default() };
        Self { min, mean: lags().map(|lag| lag as f64).sum::<f64>() / versions.len() as f64, max }
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

    /// One line: what to change.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Sampler => {
                "the games take longest: use more n_threads, or a smaller or simpler observation"
            }
            Self::Inference => {
                "infer takes longest: use a smaller or faster network, or more n_games so that each call \
                 pools more rows"
            }
            Self::Learner => {
                "the games wait for the learner: train with collect_stream, on a faster device or with fewer \
                 epochs"
            }
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
    /// Age of the policy that acted.
    pub lag: Lag,
    /// What to change first.
    pub bottleneck: Bottleneck,
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_of_the_time_is_the_bottleneck() {
        let of = |step, render, infer, wait| {
            Bottleneck::of(&Seconds { step, render, infer, wait, total: step + render + infer + wait }).name()
        };
        assert_eq!(of(2.0, 2.0, 3.0, 3.0), "sampler");
        assert_eq!(of(1.0, 1.0, 3.0, 2.0), "inference");
        assert_eq!(of(1.0, 1.0, 3.0, 4.0), "learner");
        assert_eq!(of(0.0, 0.0, 0.0, 0.0), "sampler");
    }

    #[test]
    fn lag_is_counted_from_the_current_version_and_negative_where_that_is_lower() {
        assert_eq!(Lag::of(&[3, 4, 4, 5], 6), Lag { min: 1, mean: 2.0, max: 3 });
        assert_eq!(Lag::of(&[100, 5], 5), Lag { min: -95, mean: -47.5, max: 0 });
        assert_eq!(Lag::of(&[i64::MIN], i64::MAX).max, i64::MAX);
        assert_eq!(Lag::of(&[], 6), Lag::default());
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
