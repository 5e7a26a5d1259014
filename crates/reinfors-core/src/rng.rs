//! NumPy's random stream: `SeedSequence` feeding `PCG64`, and the draws games make from it.
//!
//! A seed here gives the numbers `numpy.random.Generator(PCG64(SeedSequence(seed, spawn_key=key)))` gives,
//! for integers of any size. The generator itself (a 128-bit multiplication, an xor and a rotation) is
//! written out rather than taken from `rand_pcg`: NumPy's buffered 32-bit half and the saved form belong to
//! the same state, and the crate would leave only those two lines to be shared.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A non-negative integer of any size, as NumPy's `SeedSequence` takes it: 32-bit words, lowest first,
/// without trailing zero words (zero itself is the single word 0).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct Seed {
    words: Vec<u32>,
}

impl Seed {
    /// The integer whose 32-bit words, lowest first, are `words`; no words mean 0.
    pub fn from_words(words: impl Into<Vec<u32>>) -> Self {
        let mut words = words.into();
        while words.len() > 1 && words.last() == Some(&0) {
            words.pop();
        }
        if words.is_empty() {
            words.push(0);
        }
        Self { words }
    }

    /// The 32-bit words, lowest first; at least one.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

impl From<u64> for Seed {
    fn from(value: u64) -> Self {
        Self::from_words([value as u32, (value >> 32) as u32])
    }
}

impl From<Vec<u32>> for Seed {
    fn from(words: Vec<u32>) -> Self {
        Self::from_words(words)
    }
}

impl From<Seed> for Vec<u32> {
    fn from(seed: Seed) -> Self {
        seed.words
    }
}

impl fmt::Display for Seed {
    /// The integer in decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BILLION: u64 = 1_000_000_000;
        let mut rest = self.words.clone();
        let mut groups = Vec::new();
        while rest.iter().any(|&word| word != 0) {
            let mut remainder = 0;
            for word in rest.iter_mut().rev() {
                let value = (remainder << 32) | u64::from(*word);
                *word = (value / BILLION) as u32;
                remainder = value % BILLION;
            }
            groups.push(remainder);
        }
        write!(f, "{}", groups.pop().unwrap_or(0))?;
        groups.iter().rev().try_for_each(|group| write!(f, "{group:09}"))
    }
}

/// NumPy's `PCG64`: 128-bit state, XSL-RR output, with the unused half of a 64-bit draw kept for the next
/// 32-bit one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
    spare_half: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

impl From<&Seed> for Pcg64 {
    fn from(seed: &Seed) -> Self {
        Self::from_entropy(seed.words(), &[])
    }
}

impl Pcg64 {
    /// `PCG64(SeedSequence(entropy, spawn_key=spawn_key))`, both given as 32-bit words, lowest first.
    pub fn from_entropy(entropy: &[u32], spawn_key: &[u32]) -> Self {
        let [high, low, stream_high, stream_low] = generate_state(mix_entropy(entropy, spawn_key));
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let mut rng = Self { state: 0, increment: wide(stream_high, stream_low) << 1 | 1, spare_half: None };
        rng.advance();
        rng.state = rng.state.wrapping_add(wide(high, low));
        rng.advance();
        rng
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// 32 random bits: the low half of a fresh draw, or the high half left by the previous call.
    pub fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.spare_half.take() {
            return half;
        }
        let both = self.next_u64();
        self.spare_half = Some((both >> 32) as u32);
        both as u32
    }

    /// A float in `[0, 1)` with 53 random bits, NumPy's `random()`.
    pub fn next_f64(&mut self) -> f64 {
        const ULP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * ULP
    }

    /// A float in `[low, high)`, NumPy's `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next_f64()
    }

    /// An integer in `0..n`, NumPy's `integers(n)`: Lemire's multiplication with rejection, on 32 bits where
    /// `n` allows.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn integers(&mut self, n: u64) -> u64 {
        assert!(n > 0, "an integer below 0 cannot be drawn");
        match n {
            1 => 0,
            0x1_0000_0000 => u64::from(self.next_u32()),
            ..0x1_0000_0000 => {
                let n = n as u32;
                let rejected_below = n.wrapping_neg() % n;
                loop {
                    let product = u64::from(self.next_u32()) * u64::from(n);
                    if product as u32 >= rejected_below {
                        return product >> 32;
                    }
                }
            }
            _ => {
                let rejected_below = n.wrapping_neg() % n;
                loop {
                    let product = u128::from(self.next_u64()) * u128::from(n);
                    if product as u64 >= rejected_below {
                        return (product >> 64) as u64;
                    }
                }
            }
        }
    }
}

/// Words in the entropy pool of `SeedSequence`.
const POOL: usize = 4;

/// `SeedSequence.mix_entropy`: hashes every word of entropy and spawn key into a pool of four.
fn mix_entropy(entropy: &[u32], spawn_key: &[u32]) -> [u32; POOL] {
    // Padding keeps a short entropy with a spawn key apart from a longer entropy without one.
    let padding = if spawn_key.is_empty() { 0 } else { POOL.saturating_sub(entropy.len()) };
    let mut words =
        entropy.iter().copied().chain(std::iter::repeat_n(0, padding)).chain(spawn_key.iter().copied());

    let mut hash = Hash { constant: 0x43b0_d7e5 };
    let mut pool: [u32; POOL] = std::array::from_fn(|_| hash.absorb(words.next().unwrap_or(0)));
    for source in 0..POOL {
        for target in (0..POOL).filter(|&target| target != source) {
            pool[target] = mix(pool[target], hash.absorb(pool[source]));
        }
    }
    for word in words {
        for target in &mut pool {
            *target = mix(*target, hash.absorb(word));
        }
    }
    pool
}

/// `SeedSequence.generate_state(4, uint64)`.
fn generate_state(pool: [u32; POOL]) -> [u64; 4] {
    let mut constant: u32 = 0x8b51_f9dd;
    let mut word = |index: usize| {
        let mut value = pool[index % POOL] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        value = value.wrapping_mul(constant);
        u64::from(value ^ (value >> 16))
    };
    std::array::from_fn(|i| word(2 * i) | word(2 * i + 1) << 32)
}

/// `hashmix` of `SeedSequence`: a multiplicative hash whose constant moves on with every word.
struct Hash {
    constant: u32,
}

impl Hash {
    fn absorb(&mut self, word: u32) -> u32 {
        let mut value = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(0x931e_8875);
        value = value.wrapping_mul(self.constant);
        value ^ (value >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let value = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
    value ^ (value >> 16)
}

#[cfg(test)]
mod tests;
