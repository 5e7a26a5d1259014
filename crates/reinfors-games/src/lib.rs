//! One folder per game; this file is the list.
