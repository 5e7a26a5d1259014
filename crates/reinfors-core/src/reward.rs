//! Reward keys: a game declares what it pays for, a user says how much.

use crate::{Error, Result};

/// One thing a game pays for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewardKey {
    /// Keyword in `rf.Reward(...)`.
    pub name: &'static str,
    /// Weight when the user names none: the reference environment's.
    pub default: f64,
    /// One sentence: what is paid, when.
    pub doc: &'static str,
}

/// Weights in the order of `keys`, the given ones over the defaults.
///
/// # Errors
/// A name that is no key of the game, or a weight that `float32` cannot hold, as rewards must be; the message
/// lists the keys.
pub fn weights(game: &'static str, keys: &[RewardKey], given: &[(String, f64)]) -> Result<Vec<f64>> {
    let mut weights: Vec<f64> = keys.iter().map(|key| key.default).collect();
    let allowed = || match keys {
        [] => "none".to_owned(),
        _ => keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", "),
    };
    for (name, weight) in given {
        let Some(at) = keys.iter().position(|key| key.name == name) else {
            return Err(Error::UnknownReward { game, name: name.clone(), allowed: allowed() });
        };
        if !(*weight as f32).is_finite() {
            return Err(Error::RewardWeight { game, name: name.clone(), given: *weight, allowed: allowed() });
        }
        weights[at] = *weight;
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [RewardKey; 2] = [
        RewardKey { name: "apple", default: 1.0, doc: "An apple." },
        RewardKey { name: "step", default: -0.1, doc: "A step." },
    ];

    #[test]
    fn given_weights_replace_the_defaults_of_their_keys_only() {
        assert_eq!(weights("Snake", &KEYS, &[("step".into(), 0.0)]), Ok(vec![1.0, 0.0]));
    }

    #[test]
    fn unknown_keys_and_weights_that_float32_cannot_hold_are_refused_with_the_keys() {
        let unknown = weights("Snake", &KEYS, &[("pear".into(), 1.0)]).unwrap_err().to_string();
        assert_eq!(unknown, "unknown reward key \"pear\"; the keys of Snake are apple, step");
        for (bad, given) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf"), (1e308, "1e308")] {
            let error = weights("Snake", &KEYS, &[("apple".into(), bad)]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "reward weight apple must be a finite number that float32 can hold, got {given}; \
                     the keys of Snake are apple, step"
                )
            );
        }
        assert!(weights("Snake", &KEYS, &[("apple".into(), f64::from(f32::MAX))]).is_ok());
    }
}
