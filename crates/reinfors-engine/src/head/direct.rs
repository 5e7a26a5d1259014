//! What `infer` returns is the action. A vector is recorded as it was given, and driven clipped to the bounds,
//! as a Gaussian sample is.

use super::gaussian::clip;
use crate::batch::ActionArray;
use reinfors_core::ActionSpace;

/// Actions by themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Direct {
    space: ActionSpace,
}

impl Direct {
    /// Of this space.
    #[must_use]
    pub fn new(space: &ActionSpace) -> Self {
        Self { space: space.clone() }
    }

    /// A number for a numbered action, or one for each dimension.
    #[must_use]
    pub fn n_params(&self) -> usize {
        match &self.space {
            ActionSpace::Discrete { .. } => 1,
            ActionSpace::Continuous { low, .. } => low.len(),
        }
    }

    /// Whether actions are numbered.
    #[must_use]
    pub fn is_discrete(&self) -> bool {
        matches!(self.space, ActionSpace::Discrete { .. })
    }

    /// Appends the action to `actions` and what the game is given to `controls`.
    ///
    /// # Errors
    /// In words, when it is none.
    pub(super) fn take(
        &self,
        action: &[f64],
        actions: &mut ActionArray,
        controls: &mut Vec<f64>,
    ) -> Result<(), String> {
        match (&self.space, actions) {
            (ActionSpace::Discrete { names }, ActionArray::Discrete(indices)) => {
                let index = action[0];
                if index.fract() != 0.0 || !(0.0..names.len() as f64).contains(&index) {
                    return Err(format!(
                        "{index} is no action; needed are integers from 0 to {}",
                        names.len() - 1
                    ));
                }
                indices.push(index as i64);
                Ok(())
            }
            (ActionSpace::Continuous { low, high }, ActionArray::Continuous { values, .. }) => {
                let start = values.len();
                values.extend(action.iter().map(|number| *number as f32));
                if let Some(number) = action.iter().find(|number| !(**number as f32).is_finite()) {
                    return Err(format!("{number:?} is more than float32 can hold"));
                }
                clip(&values[start..], low, high, controls);
                Ok(())
            }
            _ => unreachable!("the array was made by `empty_actions` of this head"),
        }
    }
}
