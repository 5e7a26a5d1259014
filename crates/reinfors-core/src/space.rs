//! Action spaces, and the check that actions are inside theirs.

use crate::{Error, Result};
use std::ops::Range;

/// What a game accepts as an action.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionSpace {
    /// One integer from `0..n`; `names[a]` says what action `a` does.
    Discrete {
        /// One name per action.
        names: Vec<String>,
    },
    /// A vector of real numbers, one pair of bounds per dimension. Values outside the bounds are the game's
    /// to clip.
    Continuous {
        /// Lower bounds.
        low: Vec<f32>,
        /// Upper bounds.
        high: Vec<f32>,
    },
}

/// Actions of several rows.
#[derive(Clone, Copy, Debug)]
pub enum Actions<'a> {
    /// One integer per row.
    Discrete(&'a [i64]),
    /// `dimensions` numbers per row, row-major.
    Continuous(&'a [f64]),
}

impl<'a> Actions<'a> {
    /// Those of some rows, or of some agents: the range is of numbers.
    #[must_use]
    pub fn part(self, numbers: Range<usize>) -> Self {
        match self {
            Self::Discrete(indices) => Self::Discrete(&indices[numbers]),
            Self::Continuous(values) => Self::Continuous(&values[numbers]),
        }
    }
}

impl ActionSpace {
    /// Numbers per action: 1 for discrete spaces.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        match self {
            Self::Discrete { .. } => 1,
            Self::Continuous { low, .. } => low.len(),
        }
    }

    /// Refuses what a batch of `rows` games cannot be stepped with.
    ///
    /// # Errors
    /// The other kind of action, another number of them, an index outside `0..n`, a number that is not
    /// finite.
    pub fn check(&self, actions: Actions<'_>, rows: usize) -> Result<()> {
        match (self, actions) {
            (Self::Discrete { names }, Actions::Discrete(indices)) => {
                check_indices(indices, names.len(), rows)
            }
            (Self::Continuous { low, .. }, Actions::Continuous(values)) => {
                check_vectors(values, low.len(), rows)
            }
            (Self::Discrete { names }, Actions::Continuous(_)) => Err(Error::ActionType {
                expected: format!("integers from 0 to {}", names.len() - 1),
                given: "floating-point numbers".into(),
            }),
            (Self::Continuous { low, .. }, Actions::Discrete(_)) => Err(Error::ActionType {
                expected: format!("vectors of {} floating-point numbers", low.len()),
                given: "integers".into(),
            }),
        }
    }
}

fn check_indices(indices: &[i64], n: usize, rows: usize) -> Result<()> {
    if indices.len() != rows {
        return Err(Error::ActionShape {
            expected: format!("({rows},)"),
            given: format!("({},)", indices.len()),
        });
    }
    match indices.iter().position(|&index| usize::try_from(index).map_or(true, |index| index >= n)) {
        None => Ok(()),
        Some(row) => {
            let allowed = format!("from 0 to {}", n - 1);
            Err(Error::ActionValue { row, allowed, given: indices[row].to_string() })
        }
    }
}

fn check_vectors(values: &[f64], dimensions: usize, rows: usize) -> Result<()> {
    if values.len() != rows * dimensions {
        let given = format!("{} numbers in all", values.len());
        return Err(Error::ActionShape { expected: format!("({rows}, {dimensions})"), given });
    }
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::ActionValue {
            row: at / dimensions,
            allowed: "finite".into(),
            given: format!("{:?}", values[at]),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_names() -> ActionSpace {
        ActionSpace::Discrete { names: ["stay", "left", "right"].map(String::from).to_vec() }
    }

    fn plane() -> ActionSpace {
        ActionSpace::Continuous { low: vec![-1.0, 0.0], high: vec![1.0, 1.0] }
    }

    #[test]
    fn actions_inside_the_space_pass() {
        assert_eq!(three_names().check(Actions::Discrete(&[0, 2]), 2), Ok(()));
        assert_eq!(plane().check(Actions::Continuous(&[0.0, 9.0, -9.0, 0.5]), 2), Ok(()));
    }

    #[test]
    fn a_refusal_names_the_row_the_value_and_what_is_allowed() {
        let message = |space: ActionSpace, actions, rows| space.check(actions, rows).unwrap_err().to_string();
        assert_eq!(
            message(three_names(), Actions::Discrete(&[0, 3]), 2),
            "action 3 of row 1 must be from 0 to 2"
        );
        assert_eq!(
            message(three_names(), Actions::Discrete(&[-1]), 1),
            "action -1 of row 0 must be from 0 to 2"
        );
        assert_eq!(
            message(plane(), Actions::Continuous(&[0.0, 0.0, 0.0, f64::NAN]), 2),
            "action NaN of row 1 must be finite"
        );
        assert_eq!(
            message(three_names(), Actions::Discrete(&[0]), 2),
            "actions must have shape (2,), got (1,)"
        );
    }

    #[test]
    fn the_other_kind_of_action_is_an_error_of_type() {
        let error = three_names().check(Actions::Continuous(&[0.0]), 1).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Type);
    }
}
