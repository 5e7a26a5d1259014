//! Games that `infer` is asked about together: all of them, or one of two halves, so that one half is stepped
//! while the other one is asked about.
//!
//! Who belongs together follows from the number of games alone: neither threads nor timing change it.

use crate::shard::shard_ranges;
use reinfors_core::GameSpec;
use std::ops::Range;

/// Fewest games that are halved: each half fills a pack of those that step several at once. Fewer rows are
/// not worth a call of their own.
const FEWEST_TO_HALVE: usize = 16;

/// The games of one question.
pub(crate) struct Group {
    /// Their rows among all.
    pub rows: Range<usize>,
    /// Their shards among all.
    pub shards: Range<usize>,
    /// Where each shard's games start among those of the group, and their end.
    pub starts: Vec<usize>,
}

impl Group {
    /// The groups of `n_games` games, and the rows of each shard: a row for each agent, those of a game together.
    /// Worlds that live elsewhere are one group, for they are one batch.
    pub fn all(n_games: usize, game: &GameSpec, n_threads: usize) -> (Vec<Self>, Vec<Range<usize>>) {
        let (mut groups, mut shards) = (Vec::new(), Vec::new());
        let fewest_to_halve = if game.is_foreign { usize::MAX } else { FEWEST_TO_HALVE };
        let of_agents = |games: Range<usize>| games.start * game.n_agents..games.end * game.n_agents;
        for games in halves(n_games, fewest_to_halve) {
            let (first, rows) = (shards.len(), of_agents(games.clone()));
            let ranges = shard_ranges(games.len(), n_threads);
            let starts = ranges.iter().map(|range| range.start).chain([games.len()]).collect();
            shards.extend(
                ranges.iter().map(|range| of_agents(games.start + range.start..games.start + range.end)),
            );
            groups.push(Self { rows, shards: first..shards.len(), starts });
        }
        (groups, shards)
    }
}

fn halves(n_games: usize, fewest_to_halve: usize) -> impl Iterator<Item = Range<usize>> {
    let len = if n_games < fewest_to_halve { n_games } else { n_games.div_ceil(2) };
    (0..n_games).step_by(len.max(1)).map(move |start| start..(start + len).min(n_games))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reinfors_core::{ActionSpace, ObservationSpace, Pacing};

    fn game(n_agents: usize, is_foreign: bool) -> GameSpec {
        GameSpec {
            id: "game",
            name: "Game",
            n_agents,
            observation: ObservationSpace { parts: Vec::new() },
            action: ActionSpace::Discrete { names: Vec::new() },
            pacing: Pacing::default(),
            reward: &[],
            end_reasons: &[],
            reset_flags: &[],
            is_foreign,
        }
    }

    #[test]
    fn worlds_that_live_elsewhere_are_one_group_and_one_shard() {
        let (groups, shards) = Group::all(64, &game(1, true), 1);
        assert_eq!((groups.len(), &*shards), (1, std::slice::from_ref(&(0..64))));
    }

    #[test]
    fn groups_and_shards_cover_all_rows_in_order_and_groups_know_no_threads() {
        let all = [1, 2, 15, 16, 17, 64, 101].into_iter().flat_map(|n_games| [(n_games, 1), (n_games, 3)]);
        for (n_games, n_agents) in all {
            for n_threads in [1, 2, 3, 8] {
                let (groups, shards) = Group::all(n_games, &game(n_agents, false), n_threads);
                let rows: Vec<usize> = groups.iter().flat_map(|group| group.rows.clone()).collect();
                assert!(rows.into_iter().eq(0..n_games * n_agents));
                assert!(shards.iter().cloned().flatten().eq(0..n_games * n_agents));
                assert!(shards.iter().all(|rows| rows.start.is_multiple_of(n_agents)), "a game is cut");
                assert_eq!(groups.len(), if n_games < FEWEST_TO_HALVE { 1 } else { 2 });
                assert_eq!(groups.iter().map(|group| group.rows.len()).max().unwrap(), groups[0].rows.len());
                for group in groups {
                    let own = &shards[group.shards];
                    assert_eq!((own[0].start, own[own.len() - 1].end), (group.rows.start, group.rows.end));
                    assert_eq!(group.starts.len(), own.len() + 1);
                    assert_eq!(n_agents * group.starts[own.len()], group.rows.len());
                }
            }
        }
    }
}
