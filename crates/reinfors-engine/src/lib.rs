//! Worker threads, rollouts and streams over batches of games.
