//! Independent Beta numbers stretched from (0, 1) to the action bounds.
//!
//! Samples and densities are in action units: with `u = (action - low) / (high - low)`, the log-density is
//! the sum over dimensions of `(α-1) ln u + (β-1) ln(1-u) - ln B(α, β) - ln(high - low)`. A stored sample
//! lies strictly between the bounds even after rounding to `f32`, so its density is never that of an
//! endpoint.

use super::standard_normal;
use crate::EngineError;
use reinfors_core::rng::Pcg64;

/// A product of stretched Beta distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct Beta {
    low: Vec<f32>,
    high: Vec<f32>,
}

impl Beta {
    /// Between these bounds.
    ///
    /// # Errors
    /// [`EngineError::Setting`] when a bound is not finite or no `f32` lies between two.
    pub fn new(low: &[f32], high: &[f32]) -> Result<Self, EngineError> {
        for (low, high) in low.iter().zip(high) {
            if !(low.is_finite() && high.is_finite() && low.next_up() <= high.next_down()) {
                return Err(EngineError::Setting {
                    name: "distribution",
                    allowed: format!("\"gaussian\" for a game whose action bounds are {low} and {high}"),
                    given: "\"beta\"".into(),
                });
            }
        }
        Ok(Self { low: low.to_vec(), high: high.to_vec() })
    }

    /// An alpha per dimension, then a beta per dimension.
    #[must_use]
    pub fn n_params(&self) -> usize {
        2 * self.low.len()
    }

    /// Appends a sample in action units, rounded to `f32`, strictly between the bounds.
    ///
    /// # Errors
    /// In words, when a parameter is not positive.
    pub fn sample(&self, params: &[f64], rng: &mut Pcg64, out: &mut Vec<f32>) -> Result<(), String> {
        self.check(params)?;
        let (alphas, betas) = params.split_at(self.low.len());
        for (((alpha, beta), low), high) in alphas.iter().zip(betas).zip(&self.low).zip(&self.high) {
            // X / (X + Y) of two gamma numbers, from their logarithms: small shapes underflow otherwise.
            let log_odds = ln_gamma_number(*alpha, rng) - ln_gamma_number(*beta, rng);
            out.push(between(*low, *high, 1.0 / (1.0 + libm::exp(-log_odds))));
        }
        Ok(())
    }

    /// Appends where the density is greatest, in action units, rounded to `f32`, strictly between the bounds.
    ///
    /// # Errors
    /// In words, when a parameter is not positive.
    pub fn mode(&self, params: &[f64], out: &mut Vec<f32>) -> Result<(), String> {
        self.check(params)?;
        let (alphas, betas) = params.split_at(self.low.len());
        for (((alpha, beta), low), high) in alphas.iter().zip(betas).zip(&self.low).zip(&self.high) {
            out.push(between(*low, *high, mode(*alpha, *beta)));
        }
        Ok(())
    }

    fn check(&self, params: &[f64]) -> Result<(), String> {
        if let Some(column) = params.iter().position(|param| *param <= 0.0) {
            let name = if column < self.low.len() { "alpha" } else { "beta" };
            return Err(format!(
                "{name} is {} in column {column}; needed are positive numbers",
                params[column]
            ));
        }
        Ok(())
    }

    /// Log-density of a sample, in action units.
    #[must_use]
    pub fn log_prob(&self, params: &[f64], sample: &[f32]) -> f64 {
        let dimensions = self.low.len();
        let density = |at: usize| {
            let (alpha, beta) = (params[at], params[dimensions + at]);
            let (low, high) = (f64::from(self.low[at]), f64::from(self.high[at]));
            let (above, below) = (f64::from(sample[at]) - low, high - f64::from(sample[at]));
            let width = high - low;
            (alpha - 1.0) * libm::log(above / width) + (beta - 1.0) * libm::log(below / width)
                - ln_beta(alpha, beta)
                - libm::log(width)
        };
        (0..dimensions).map(density).sum()
    }
}

/// The action at a fraction of the way from one bound to the other.
fn between(low: f32, high: f32, fraction: f64) -> f32 {
    let action = f64::from(low) + (f64::from(high) - f64::from(low)) * fraction;
    (action as f32).max(low.next_up()).min(high.next_down())
}

/// Where the density over (0, 1) is greatest: inside where both parameters are above 1, otherwise at the end
/// it grows to. Of a density that is even or grows alike to both ends it is the middle, which is also the mean.
fn mode(alpha: f64, beta: f64) -> f64 {
    if alpha == beta {
        0.5
    } else if alpha > 1.0 && beta > 1.0 {
        // Halved before the sum, which overflows otherwise.
        0.5 * (alpha - 1.0) / (0.5 * (alpha - 1.0) + 0.5 * (beta - 1.0))
    } else if alpha < beta {
        0.0
    } else {
        1.0
    }
}

/// ln B(α, β).
fn ln_beta(alpha: f64, beta: f64) -> f64 {
    libm::lgamma(alpha) + libm::lgamma(beta) - libm::lgamma(alpha + beta)
}

/// Logarithm of a gamma number of this shape and scale 1, by the method of Marsaglia and Tsang (2000).
fn ln_gamma_number(shape: f64, rng: &mut Pcg64) -> f64 {
    if shape < 1.0 {
        return ln_gamma_number(shape + 1.0, rng) + libm::log(1.0 - rng.next_f64()) / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (3.0 * libm::sqrt(d));
    loop {
        let normal = standard_normal(rng);
        let root = 1.0 + c * normal;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let ln_v = 3.0 * libm::log(root);
        if libm::log(1.0 - rng.next_f64()) < 0.5 * normal * normal + d * (1.0 - v + ln_v) {
            return libm::log(d) + ln_v;
        }
    }
}
