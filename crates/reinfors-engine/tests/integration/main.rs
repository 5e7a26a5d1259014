//! Behaviour of the engine over a small deterministic game.
