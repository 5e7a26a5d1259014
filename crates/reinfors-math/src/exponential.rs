//! `ln(exp(x) + exp(y))` in double precision, the bits of NumPy's `logaddexp` over glibc 2.36 on a processor
//! with fused multiply-add; the same on every machine.
//!
//! 1. NumPy takes it from the C library's `exp` and `log1p`, whose last bits are not those of the rounded true
//!    results. What is to be the reference's in every bit needs their order of roundings.
//! 2. The exponential is that of ARM's optimised routines, which glibc has adopted: powers of two in steps of
//!    1/128, kept to twice the precision, times a short polynomial in the rest. The table is worked out from
//!    the definition.
//! 3. The logarithm is fdlibm's, its polynomial summed as glibc does.
//! 4. Products are fused into sums where a compiler does so in glibc, which is spelled `f64::mul_add`: exactly
//!    rounded everywhere, in hardware where the target has it.
//! 5. Only what is needed is here: exponentials of numbers up to 0, logarithms of 1 to 2.
//!
//! Not done: the logarithm of the newest glibc, which is rounded correctly.

use std::f64::consts::LN_2;

/// `ln(exp(x) + exp(y))` of two finite numbers.
///
/// Source: NumPy `npy_logaddexp`.
#[must_use]
pub fn log_add_exp(x: f64, y: f64) -> f64 {
    if x == y {
        return x + LN_2;
    }
    let difference = x - y;
    if difference > 0.0 { x + ln_1p(exp(-difference)) } else { y + ln_1p(exp(difference)) }
}

/// Steps of the table in a factor of two.
const STEPS: u64 = 128;

/// Added to a small number and taken off again, it leaves the nearest integer (`Shift`).
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// Steps in one unit of the exponent (`InvLn2N`).
const STEPS_PER_UNIT: f64 = f64::from_bits(0x3FF7_1547_652B_82FE) * STEPS as f64;

/// One step, negative, in two parts of which the first has exact products with the number of steps
/// (`NegLn2hiN`, `NegLn2loN`).
const STEP: [f64; 2] = [f64::from_bits(0xBF76_2E42_FEFA_0000), f64::from_bits(0xBD0C_F79A_BC9E_3B3A)];

/// The polynomial's coefficients from the second power on (`C2` to `C5`).
const EXP: [f64; 4] = [
    f64::from_bits(0x3FDF_FFFF_FFFF_FDBD),
    f64::from_bits(0x3FC5_5555_5555_543C),
    f64::from_bits(0x3FA5_5555_CF17_2B91),
    f64::from_bits(0x3F81_1111_67A4_D017),
];

/// `exp` of a number up to 0.
///
/// Source: ARM optimised routines `exp`, variant with fused multiply-add.
fn exp(x: f64) -> f64 {
    /// Closer to 0, the result is the nearest number to one more.
    const TINY: f64 = 1.0 / (1_u64 << 54) as f64;
    /// From here on no number is small enough.
    const VANISHING: f64 = -1024.0;
    /// Beyond, a result may have fewer bits than others.
    const LARGE: f64 = -512.0;
    if x > -TINY {
        return 1.0 + x;
    }
    if x <= VANISHING {
        return 0.0;
    }
    let shifted = STEPS_PER_UNIT.mul_add(x, ROUNDING);
    let steps = shifted - ROUNDING;
    let rest = steps.mul_add(STEP[1], steps.mul_add(STEP[0], x));
    let number = steps as i64;
    let Power { bits, tail } = TABLE[number.rem_euclid(STEPS as i64) as usize];
    let square = rest * rest;
    let [c2, c3, c4, c5] = EXP;
    let low = square.mul_add(rest.mul_add(c3, c2), tail + rest);
    let more = (square * square).mul_add(rest.mul_add(c5, c4), low);
    let doublings = number.div_euclid(STEPS as i64);
    if x > LARGE {
        let scale = f64::from_bits(bits.wrapping_add_signed(doublings << 52));
        return scale.mul_add(more, scale);
    }
    let scale = f64::from_bits(bits.wrapping_add_signed((doublings + 1022) << 52));
    let product = scale * more;
    let mut result = scale + product;
    if result < 1.0 {
        // Rounded here to the bits that are left, so that it is not rounded twice.
        let low = (scale - result) + product;
        let high = 1.0 + result;
        result = (high + (((1.0 - high) + result) + low)) - 1.0;
    }
    result * f64::MIN_POSITIVE
}

/// The odd part's coefficients (`Lp`).
const LN: [f64; 7] = [
    f64::from_bits(0x3FE5_5555_5555_5593),
    f64::from_bits(0x3FD9_9999_9997_FA04),
    f64::from_bits(0x3FD2_4924_9422_9359),
    f64::from_bits(0x3FCC_71C5_1D8E_78AF),
    f64::from_bits(0x3FC7_4664_96CB_03DE),
    f64::from_bits(0x3FC3_9A09_D078_C69F),
    f64::from_bits(0x3FC2_F112_DF3E_5244),
];

/// `ln(1 + x)` of a number from 0 to 1.
///
/// Source: glibc `log1p` (`sysdeps/ieee754/dbl-64`), variant with fused multiply-add.
fn ln_1p(x: f64) -> f64 {
    /// ln 2 in two parts (`ln2_hi`, `ln2_lo`).
    const HALVED: [f64; 2] = [f64::from_bits(0x3FE6_2E42_FEE0_0000), f64::from_bits(0x3DEA_39EF_3579_3C76)];
    /// Below, `x` is its own result; then it lacks half its square.
    const TINY: f64 = 1.0 / (1_u64 << 54) as f64;
    const SMALL: f64 = 1.0 / (1 << 29) as f64;
    /// From here on, half of `1 + x` is looked at.
    const LARGE: f64 = f64::from_bits(0x3FDA_827A_0000_0000);
    /// A half from here on is so close to one that its logarithm has two terms.
    const NEAR: f64 = f64::from_bits(0x3FEF_FFFF_4000_0000);
    if x < TINY {
        return x;
    }
    if x < SMALL {
        return x - x * x * 0.5;
    }
    if x < LARGE {
        let (half_square, product) = series(x);
        return x - (half_square - product);
    }
    let sum = 1.0 + x;
    let half = 0.5 * sum;
    if half == 1.0 {
        return HALVED[0] + ((1.0 - (sum - x)) / sum + HALVED[1]);
    }
    let (f, low) = (half - 1.0, HALVED[1] + (x - (sum - 1.0)) / sum);
    if half >= NEAR {
        return HALVED[0] - ((0.5 * f * f * (-2.0_f64 / 3.0).mul_add(f, 1.0) - low) - f);
    }
    let (half_square, product) = series(f);
    HALVED[0] - ((half_square - (product + low)) - f)
}

/// Half the square of `f`, and its product with what the logarithm of `1 + f` adds.
fn series(f: f64) -> (f64, f64) {
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let [l1, l2, l3, l4, l5, l6, l7] = LN;
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = z.mul_add(l1, z2 * z.mul_add(l3, l2));
    let sum = (z2 * z4).mul_add(z.mul_add(l7, l6), z4.mul_add(z.mul_add(l5, l4), low));
    (half_square, s * (half_square + sum))
}

/// A power of two.
#[derive(Clone, Copy)]
struct Power {
    bits: u64,
    /// What the true one has more, as a share of it.
    tail: f64,
}

/// The powers of two in steps of 1/128, from 1 on.
static TABLE: [Power; STEPS as usize] = table();

const fn table() -> [Power; STEPS as usize] {
    let mut table = [Power { bits: 0, tail: 0.0 }; STEPS as usize];
    let mut step = 0;
    while step < STEPS {
        let power = series_of_power(step as u128);
        let head = power as f64;
        let tail = (power as i128 - head as i128) as f64 / head;
        table[step as usize] = Power { bits: (head / (1_u128 << PLACES) as f64).to_bits(), tail };
        step += 1;
    }
    table
}

/// Binary places of the fixed-point numbers that the table is worked out in.
const PLACES: u32 = 124;

/// `2^(step / 128)`: the Taylor series of the exponential.
const fn series_of_power(step: u128) -> u128 {
    let exponent = ln_2() / STEPS as u128 * step;
    let (mut term, mut sum, mut power) = (1 << PLACES, 0, 0);
    while term != 0 {
        sum += term;
        power += 1;
        term = product(term, exponent) / power;
    }
    sum
}

/// The series of halves over their number.
const fn ln_2() -> u128 {
    let (mut sum, mut power) = (0, 1);
    while power <= PLACES {
        sum += (1_u128 << (PLACES - power)) / power as u128;
        power += 1;
    }
    sum
}

/// The product of two fixed-point numbers below 4, by halves.
const fn product(a: u128, b: u128) -> u128 {
    const HALF: u32 = 64;
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> HALF, a & LOW, b >> HALF, b & LOW);
    let (left, right) = (a_high * b_low, a_low * b_high);
    let middle = ((a_low * b_low) >> HALF) + (left & LOW) + (right & LOW);
    let high = a_high * b_high + (left >> HALF) + (right >> HALF) + (middle >> HALF);
    (high << (2 * HALF - PLACES)) + ((middle & LOW) >> (PLACES - HALF))
}

#[cfg(test)]
mod tests {
    use super::{STEPS, TABLE, exp, ln_1p, log_add_exp};

    /// Numbers and `numpy.logaddexp(0, number)`, recorded with NumPy 2.4 and glibc 2.36 on x86-64 with FMA.
    #[rustfmt::skip]
    const RECORDED: [(u64, u64); 40] = [
        (0x0000000000000000, 0x3FE62E42FEFA39EF),
        (0x8000000000000000, 0x3FE62E42FEFA39EF),
        (0x3FF0000000000000, 0x3FF5031EAFEFB049),
        (0xBFF0000000000000, 0x3FD40C7ABFBEC125),
        (0x0000000000000001, 0x3FE62E42FEFA39EF),
        (0xBC670EF54646D497, 0x3FE62E42FEFA39EF),
        (0x3E112E0BE826D695, 0x3FE62E42FF3EF21F),
        (0xC04259999999999A, 0x3CA0998B04BDD190),
        (0xC042C00000000000, 0x3C8DD5C566301EC8),
        (0xC044000000000000, 0x3C539792499B1A24),
        (0xC069080000000000, 0x2DE126F3B900E85B),
        (0xC07FFE6666666666, 0x11C6625AA47B24C5),
        (0xC080400000000000, 0x110BD4872FA2901F),
        (0xC082C0FBE76C8B44, 0x09D2731E4D5E8917),
        (0xC086226666666666, 0x00119E98B83DE7A3),
        (0xC086240000000000, 0x000E6CF6D08897AC),
        (0xC086800000000000, 0x0000000993B4DC95),
        (0xC087473333333333, 0x0000000000000001),
        (0xC08749999999999A, 0x0000000000000000),
        (0xC08FF80000000000, 0x0000000000000000),
        (0xC09F400000000000, 0x0000000000000000),
        (0x4062C00000000000, 0x4062C00000000000),
        (0x4072C00000000000, 0x4072C00000000000),
        (0x3FE62E42FEFA39EF, 0x3FF193EA7AAD030A),
        (0xBFD6666666666666, 0x3FE1117774396578),
        (0xBFEC7AE147AE147B, 0x3FD604FDE002985F),
        (0xBFECCCCCCCCCCCCD, 0x3FD5D5770FB8311E),
        (0x4003852AFBAAEE38, 0x40043050866A3292),
        (0x4003B54D49417326, 0x40045CA18B0027A4),
        (0x3FBF6301FBC03540, 0x3FE833D52A9BF6BC),
        (0xBFFB6ADC41AF5480, 0x3FC535A031C1227B),
        (0xC00C8C663D414F7C, 0x3F9C7946935D10A8),
        (0xBFEDDB897AB8DA00, 0x3FD53AC8297E3C9D),
        (0xBFE76E4CCD6DC6E0, 0x3FD9208C37C9342F),
        (0xC00D1A3612B79CB4, 0x3F9A97E420BB5BED),
        (0xC00CE12756BFEF5E, 0x3F9B55AE95C3AFF2),
        (0xC07FE2E66B50342C, 0x11EF364CBC6C50D7),
        (0xC08253D492B58FDF, 0x0B0DA658F44F07FF),
        (0xC08533431562978C, 0x02C3382DF6D78030),
        (0xC083D27E07E70F43, 0x06BD7C0DCD3F6995),
    ];

    #[test]
    fn sums_equal_numpy() {
        for &(y, sum) in &RECORDED {
            let y = f64::from_bits(y);
            assert_eq!(log_add_exp(0.0, y).to_bits(), sum, "{y}");
            assert_eq!(log_add_exp(y, 0.0).to_bits(), sum, "{y}, the other way round");
        }
    }

    #[test]
    fn no_result_is_further_than_a_last_bit_from_another_library() {
        for step in 0..400_000 {
            let share = f64::from(step) / 400_000.0;
            let (far, near) = (-745.0 * share, share * share * share);
            for (ours, other) in [(exp(far), libm::exp(far)), (ln_1p(near), libm::log1p(near))] {
                assert!(ours.to_bits().abs_diff(other.to_bits()) <= 1, "{far}, {near}: {ours} and {other}");
            }
        }
    }

    #[test]
    fn powers_of_the_table_are_what_their_multiples_add_up_to() {
        for (step, power) in TABLE.iter().enumerate() {
            let (head, other) = (f64::from_bits(power.bits), TABLE[STEPS as usize - 1 - step]);
            let product = head * f64::from_bits(other.bits);
            let rest = head.mul_add(f64::from_bits(other.bits), -product);
            // 2^(127/128) whichever two it is made of, the tails added.
            let last = TABLE[STEPS as usize - 1];
            let whole = f64::from_bits(last.bits);
            let off = (product - whole) + (rest + whole * (power.tail + other.tail - last.tail));
            assert!(off.abs() < 1e-31, "step {step} is off by {off}");
        }
    }
}
