//! Independent normal numbers, by means and logarithms of standard deviations.
//!
//! The batch holds the raw sample and its density; only what the game is given is clipped to the bounds. (The
//! density of a clipped sample has atoms at the bounds, and a ratio taken of it is wrong wherever the policy
//! saturates.)

use super::standard_normal;
use reinfors_core::rng::Pcg64;

/// A diagonal normal distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    low: Vec<f32>,
    high: Vec<f32>,
}

/// ln(2π) / 2.
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

impl Gaussian {
    /// Over vectors that the game wants inside these bounds.
    #[must_use]
    pub fn new(low: &[f32], high: &[f32]) -> Self {
        Self { low: low.to_vec(), high: high.to_vec() }
    }

    /// A mean per dimension, then a logarithm of a standard deviation per dimension.
    #[must_use]
    pub fn n_params(&self) -> usize {
        2 * self.low.len()
    }

    /// Appends a sample, rounded to `f32`.
    ///
    /// # Errors
    /// In words, when the sample is too large for `f32`.
    pub fn sample(&self, params: &[f64], rng: &mut Pcg64, out: &mut Vec<f32>) -> Result<(), String> {
        let (means, log_stds) = params.split_at(self.low.len());
        for (mean, log_std) in means.iter().zip(log_stds) {
            let sample = (mean + libm::exp(*log_std) * standard_normal(rng)) as f32;
            if !sample.is_finite() {
                return Err(format!(
                    "mean {mean:?} with log_std {log_std:?} gives a sample that float32 cannot hold"
                ));
            }
            out.push(sample);
        }
        Ok(())
    }

    /// Appends the means, rounded to `f32`.
    ///
    /// # Errors
    /// In words, when a mean is too large for `f32`.
    pub fn mode(&self, params: &[f64], out: &mut Vec<f32>) -> Result<(), String> {
        for mean in &params[..self.low.len()] {
            let rounded = *mean as f32;
            if !rounded.is_finite() {
                return Err(format!("mean {mean:?} is one that float32 cannot hold"));
            }
            out.push(rounded);
        }
        Ok(())
    }

    /// Log-density of a sample.
    #[must_use]
    pub fn log_prob(&self, params: &[f64], sample: &[f32]) -> f64 {
        let dimensions = self.low.len();
        let density = |at: usize| {
            let (mean, log_std) = (params[at], params[dimensions + at]);
            let deviation = (f64::from(sample[at]) - mean) / libm::exp(log_std);
            -0.5 * deviation * deviation - log_std - HALF_LOG_TAU
        };
        (0..dimensions).map(density).sum()
    }

    /// Appends what the game is given: the sample clipped to the bounds.
    pub fn clip(&self, sample: &[f32], out: &mut Vec<f64>) {
        clip(sample, &self.low, &self.high, out);
    }
}

/// Appends numbers clipped to bounds.
pub(super) fn clip(numbers: &[f32], low: &[f32], high: &[f32], out: &mut Vec<f64>) {
    let clipped = numbers.iter().zip(low).zip(high).map(|((number, low), high)| number.max(*low).min(*high));
    out.extend(clipped.map(f64::from));
}
