//! The contracts between games and what drives them.
