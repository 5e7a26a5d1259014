//! Numbers and their sums in a binary tree: one is changed, and one is found by a share of the sum, in as many
//! steps as the tree is high.

use crate::EngineError;

/// Leaves with non-negative numbers, in float64.
pub(super) struct SumTree {
    /// The root at 1; leaf `i` at `leaves + i`.
    sums: Vec<f64>,
    leaves: usize,
}

impl SumTree {
    /// So many leaves, all 0.
    ///
    /// # Errors
    /// No memory.
    pub fn new(len: usize) -> Result<Self, EngineError> {
        let leaves = len.next_power_of_two();
        let sums = bytemuck::allocation::try_zeroed_vec(2 * leaves)
            .map_err(|()| EngineError::Replay(format!("there is no memory for {len} priorities")))?;
        Ok(Self { sums, leaves })
    }

    pub fn get(&self, leaf: usize) -> f64 {
        self.sums[self.leaves + leaf]
    }

    /// Every sum is added up anew, so that no error grows with the number of changes.
    pub fn set(&mut self, leaf: usize, number: f64) {
        let mut at = self.leaves + leaf;
        self.sums[at] = number;
        while at > 1 {
            at /= 2;
            self.sums[at] = self.sums[2 * at] + self.sums[2 * at + 1];
        }
    }

    pub fn total(&self) -> f64 {
        self.sums[1]
    }

    /// The leaf at which the running sum exceeds `below`, which is less than the total. Never one of 0.
    pub fn find(&self, mut below: f64) -> usize {
        let mut at = 1;
        while at < self.leaves {
            at *= 2;
            // Rounding may leave more than is there: then it is in the last leaf that has something.
            if below >= self.sums[at] && self.sums[at + 1] > 0.0 {
                below -= self.sums[at];
                at += 1;
            }
        }
        at - self.leaves
    }

    pub fn bytes(&self) -> usize {
        self.sums.len() * size_of::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reinfors_core::rng::{Pcg64, Seed};

    #[test]
    fn a_leaf_is_found_where_a_plain_running_sum_finds_it() {
        let mut rng = Pcg64::from(&Seed::from(1));
        for len in [1, 2, 3, 7, 64, 100] {
            let mut tree = SumTree::new(len).unwrap();
            let mut plain = vec![0.0; len];
            for _ in 0..300 {
                let leaf = rng.integers(len as u64) as usize;
                plain[leaf] = rng.integers(5) as f64;
                tree.set(leaf, plain[leaf]);
                let total: f64 = plain.iter().sum();
                assert_eq!((tree.total(), tree.get(leaf)), (total, plain[leaf]));
                if total == 0.0 {
                    continue;
                }
                let below = rng.next_f64() * total;
                let mut sum = 0.0;
                let expected = plain.iter().position(|number| {
                    sum += number;
                    below < sum
                });
                assert_eq!(Some(tree.find(below)), expected);
            }
        }
    }

    #[test]
    fn what_rounding_leaves_over_is_found_in_a_leaf_that_has_something() {
        let mut tree = SumTree::new(8).unwrap();
        tree.set(2, 0.1);
        tree.set(5, 0.2);
        assert_eq!(tree.find(tree.total()), 5);
        assert_eq!(tree.find(10.0 * tree.total()), 5);
    }
}
