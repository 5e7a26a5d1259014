//! The vector instructions of this processor, and how to run a [`Kernel`] with them: the one place that
//! decides this, and the only unsafe code it takes.
//!
//! 1. The package is built once for every processor of an architecture. A kernel is compiled once per
//!    [`Level`] and the level is chosen when running.
//! 2. Only what is inlined into [`Kernel::run`] is compiled for the level: mark everything that matters
//!    `#[inline(always)]`, all the way down. What is called instead runs as it does in the rest of the build.
//! 3. Levels differ in speed, never in bits: an operation is fused only where it is spelled `mul_add`, which
//!    is exactly rounded at every level.
//!
//! Intrinsics are not used: plain loops over [`crate::lanes::Pack`] vectorise as well.

#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::sync::OnceLock;

/// A set of instructions that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Instructions);

/// Private, so that a [`Level`] that the processor lacks cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Instructions {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

/// Work that is worth compiling for several levels.
pub trait Kernel {
    /// What it results in.
    type Output;

    /// Does the work. Implement it with `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

impl Level {
    /// The instructions that every processor of the architecture has: SSE2 on x86-64.
    pub const BASELINE: Self = Self(Instructions::Baseline);

    /// The best level of this processor, or the one that the environment variable `REINFORS_CPU` names, if
    /// the processor has it: to measure or test a whole process at a lower level. Found out once.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            Self::chosen(std::env::var_os("REINFORS_CPU").as_deref()).unwrap_or_else(|(level, _)| level)
        })
    }

    /// The level called `name`, or the best of this processor where that is `None` or empty.
    ///
    /// # Errors
    /// The processor has no level of that name: its best one, and the names of those it has.
    pub fn chosen(name: Option<&OsStr>) -> Result<Self, (Self, String)> {
        let levels = Self::available();
        let best = levels.last().copied().unwrap_or(Self::BASELINE);
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(best) };
        let found = levels.iter().copied().find(|level| name == level.name());
        found.ok_or_else(|| (best, levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(" or ")))
    }

    /// Every level of this processor, the best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "there is but one level"))]
        let mut levels = vec![Self::BASELINE];
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            levels.push(Self(Instructions::Avx2));
        }
        levels
    }

    /// Name of the level: `"baseline"` or `"avx2"`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
        }
    }

    /// Runs `kernel`, compiled for this level.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Instructions::Baseline => kernel.run(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: only `Level::available` makes this level, if `has_avx2` finds the function's features.
            Instructions::Avx2 => unsafe { run_with_avx2(kernel) },
        }
    }
}

/// Whether the processor has what [`run_with_avx2`] enables: Intel's since 2013, AMD's since 2015.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

/// [`Kernel::run`], compiled with 256-bit vectors and fused multiply-add.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn run_with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(test)]
mod tests {
    use super::{Kernel, Level};
    use crate::lanes::{Lanes, Pack, PerLane};

    /// Bits of operations in which a fused or approximated result would show.
    struct Arithmetic<'a>(&'a [[f32; 8]]);

    impl Kernel for Arithmetic<'_> {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run(self) -> Vec<u32> {
            let mut bits = Vec::new();
            for (a, b) in self.0.iter().zip(self.0.iter().skip(1)) {
                let (a, b) = (Pack::new(*a), Pack::new(*b));
                let (sin, cos) = a.sin_cos();
                let results = [a * b + a, b - a * b, a / b, Lanes::sqrt(Lanes::abs(a)), sin, cos];
                bits.extend(results.iter().flat_map(|pack| (0..8).map(|lane| pack.get(lane).to_bits())));
            }
            bits
        }
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        let number = |index: u32| {
            let hashed = index.wrapping_mul(0x9E37_79B9).rotate_left(13).wrapping_mul(0x85EB_CA6B);
            (hashed >> 8) as f32 / (1 << 16) as f32 - 128.0
        };
        let numbers: Vec<[f32; 8]> =
            (0..1000).map(|row| std::array::from_fn(|lane| number(8 * row + lane as u32))).collect();
        let baseline = Level::BASELINE.run(Arithmetic(&numbers));
        for level in Level::available() {
            assert!(level.run(Arithmetic(&numbers)) == baseline, "{} differs", level.name());
        }
    }

    #[test]
    fn a_level_is_chosen_by_its_name_and_an_unknown_one_is_told_from_none() {
        let best = *Level::available().last().unwrap();
        for (name, level) in [(None, best), (Some(""), best), (Some("baseline"), Level::BASELINE)] {
            assert_eq!(Level::chosen(name.map(str::as_ref)), Ok(level));
        }
        let (fallback, known) = Level::chosen(Some("sse9".as_ref())).unwrap_err();
        assert_eq!(fallback, best);
        assert!(known.starts_with("baseline"));
    }

    #[test]
    fn every_processor_has_the_baseline() {
        let levels = Level::available();
        assert_eq!(levels[0], Level::BASELINE);
        assert!(levels.contains(&Level::best()) && levels.is_sorted());
    }
}
