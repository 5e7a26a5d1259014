//! Trigonometry whose results do not depend on the machine: no function here calls the system's mathematical
//! library.
//!
//! 1. [`sin_cos`] (single precision) returns, for every finite argument, the bits of `sinf` and `cosf` of
//!    glibc 2.28 or newer on a processor with fused multiply-add, which is what the reference runs on. Like
//!    glibc it evaluates the short polynomials of ARM's optimised routines in double precision. The fused
//!    steps are spelled `f64::mul_add`, which is exactly rounded everywhere: in hardware where the target has
//!    it, in software elsewhere.
//! 2. [`sin_cos_f64`] does nearly the same in double precision: see there.
//! 3. The other double precision functions are those of the `libm` crate: errors below one unit in the last
//!    place, the same bits on every machine, but not always glibc's last bit.

mod double;

pub use double::sin_cos_f64;

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Coefficients of the sine polynomial in odd powers from the third, on `[-pi/4, pi/4]`.
const SIN: [f64; 3] = [
    f64::from_bits(0xBFC5_5554_5995_A603),
    f64::from_bits(0x3F81_1076_0523_0BC4),
    f64::from_bits(0xBF29_94EB_3774_CF24),
];

/// Coefficients of the cosine polynomial in even powers from the second, on `[-pi/4, pi/4]`.
const COS: [f64; 4] = [
    f64::from_bits(0xBFDF_FFFF_FD0C_621C),
    f64::from_bits(0x3FA5_5553_E106_8F19),
    f64::from_bits(0xBF56_C087_E89A_359D),
    f64::from_bits(0x3EF9_9343_027B_F8C3),
];

/// Arguments below this are their own sine, and their cosine is one.
const TINY: f32 = 1.0 / 4096.0;

/// Arguments from here on are reduced with the long form of two over pi.
const LARGE: f32 = 120.0;

/// `(sin(angle), cos(angle))` in single precision; not-a-number for infinite arguments.
///
/// Source: glibc `sincosf` (`sysdeps/ieee754/flt-32`), variant with fused multiply-add.
#[inline(always)]
pub fn sin_cos(angle: f32) -> (f32, f32) {
    if angle.abs() < LARGE {
        sin_cos_below_large(angle)
    } else if angle.is_finite() {
        let (quadrant, rest) = reduce_large(angle);
        from_quadrant(quadrant, rest)
    } else {
        (f32::NAN, f32::NAN)
    }
}

/// [`sin_cos`] of every angle; small angles, the usual case, in one loop without branches.
#[inline(always)]
pub(crate) fn sin_cos_each<const N: usize>(angles: &[f32; N], sin: &mut [f32; N], cos: &mut [f32; N]) {
    let all_small = angles.iter().fold(true, |all, angle| all & (angle.abs() < LARGE));
    if all_small {
        for i in 0..N {
            (sin[i], cos[i]) = sin_cos_below_large(angles[i]);
        }
    } else {
        for i in 0..N {
            (sin[i], cos[i]) = sin_cos(angles[i]);
        }
    }
}

/// [`sin_cos`] for `|angle| < 120`, without branches so that a loop over lanes vectorises.
#[inline(always)]
fn sin_cos_below_large(angle: f32) -> (f32, f32) {
    // Scaled so that the nearest quadrant is found by adding a half in integers, as glibc does.
    const QUADRANTS_PER_RADIAN: f64 = FRAC_2_PI * (1 << 24) as f64;
    let wide = f64::from(angle);
    let quadrant = ((wide * QUADRANTS_PER_RADIAN) as i32).wrapping_add(0x80_0000) >> 24;
    let rest = (-f64::from(quadrant)).mul_add(FRAC_PI_2, wide);
    let (sin, cos) = from_quadrant(quadrant, rest);
    let tiny = angle.abs() < TINY;
    (if tiny { angle } else { sin }, if tiny { 1.0 } else { cos })
}

/// Sine and cosine of `quadrant * pi/2 + rest`, `|rest| <= pi/4`.
#[inline(always)]
fn from_quadrant(quadrant: i32, rest: f64) -> (f32, f32) {
    let square = rest * rest;
    // The second and third quadrants negate the sine's polynomial, the third and fourth the cosine's.
    let odd = sin_polynomial(flip(rest, quadrant.wrapping_add(1) & 2), square) as f32;
    let even = flip(cos_polynomial(square), quadrant & 2) as f32;
    if quadrant & 1 == 0 { (odd, even) } else { (even, odd) }
}

/// `value`, negated if the bit of weight 2 in `quadrant` is set.
#[inline(always)]
fn flip(value: f64, quadrant: i32) -> f64 {
    f64::from_bits(value.to_bits() ^ (u64::from(quadrant as u32) << 62))
}

#[inline(always)]
fn sin_polynomial(x: f64, square: f64) -> f64 {
    let cube = x * square;
    let high = square.mul_add(SIN[2], SIN[1]);
    let low = cube.mul_add(SIN[0], x);
    (cube * square).mul_add(high, low)
}

#[inline(always)]
fn cos_polynomial(square: f64) -> f64 {
    let fourth = square * square;
    let high = square.mul_add(COS[3], COS[2]);
    let low = fourth.mul_add(COS[1], square.mul_add(COS[0], 1.0));
    (fourth * square).mul_add(high, low)
}

/// Quadrant and rest of `|angle| >= 120`, from those digits of two over pi that matter at its exponent.
fn reduce_large(angle: f32) -> (i32, f64) {
    /// `pi / 2`, scaled by the 62 fractional bits of the product below.
    const RADIANS_PER_UNIT: f64 = FRAC_PI_2 / (1_u64 << 62) as f64;
    let bits = angle.to_bits();
    let mantissa = (bits & 0x00FF_FFFF | 0x0080_0000) << ((bits >> 23) & 7);
    // 192 bits of two over pi from the byte that the exponent points at; bits above the quadrant drop out of
    // the product.
    let start = ((bits >> 26) & 15) as usize;
    let word = |at: usize| TWO_OVER_PI.get_word(start + at);
    let high = u64::from(mantissa.wrapping_mul(word(0)));
    let middle = u64::from(mantissa) * u64::from(word(4));
    let low = u64::from(mantissa) * u64::from(word(8));
    let product = ((low >> 32) | (high << 32)).wrapping_add(middle);
    let quadrant = product.wrapping_add(1 << 61) >> 62;
    let rest = product.wrapping_sub(quadrant << 62) as i64 as f64 * RADIANS_PER_UNIT;
    if angle < 0.0 { (-(quadrant as i32), -rest) } else { (quadrant as i32, rest) }
}

/// The leading binary digits of two over pi, after three zero bytes.
struct Digits([u8; 27]);

const TWO_OVER_PI: Digits = Digits([
    0x00, 0x00, 0x00, 0xA2, 0xF9, 0x83, 0x6E, 0x4E, 0x44, 0x15, 0x29, 0xFC, 0x27, 0x57, 0xD1, 0xF5, 0x34,
    0xDD, 0xC0, 0xDB, 0x62, 0x95, 0x99, 0x3C, 0x43, 0x90, 0x41,
]);

impl Digits {
    /// The 32 bits that start at byte `at`.
    fn get_word(&self, at: usize) -> u32 {
        self.0[at..at + 4].iter().fold(0, |word, &byte| word << 8 | u32::from(byte))
    }
}

/// Sine in double precision.
pub fn sin(angle: f64) -> f64 {
    libm::sin(angle)
}

/// Cosine in double precision.
pub fn cos(angle: f64) -> f64 {
    libm::cos(angle)
}

/// The angle of the point `(x, y)` in `[-pi, pi]`, in double precision.
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

#[cfg(test)]
mod tests {
    use super::{TWO_OVER_PI, sin_cos};

    /// Recorded from glibc 2.36 on x86-64 with FMA.
    #[rustfmt::skip]
    const RECORDED: [(u32, u32, u32); 48] = [
        (0x00000000, 0x00000000, 0x3F800000), (0x80000000, 0x80000000, 0x3F800000), 
        (0x39800000, 0x39800000, 0x3F800000), (0x397FFFFF, 0x397FFFFF, 0x3F800000), 
        (0xB97BA882, 0xB97BA882, 0x3F800000), (0x3F490FDB, 0x3F3504F3, 0x3F3504F3), 
        (0x3F490FDB, 0x3F3504F3, 0x3F3504F3), (0xBF490FDB, 0xBF3504F3, 0x3F3504F3), 
        (0x3FC90FDB, 0x3F800000, 0xB33BBD2E), (0x40490FDB, 0xB3BBBD2E, 0xBF800000), 
        (0xC0490FDB, 0x33BBBD2E, 0xBF800000), (0x42EFFFFF, 0x3F14A287, 0x3F506E74), 
        (0x42F00000, 0x3F14A2EF, 0x3F506E2A), (0xC2F00000, 0xBF14A2EF, 0x3F506E2A), 
        (0x501502F9, 0xBEF99A64, 0x3F5F84C5), (0x7F7FFFFF, 0xBF0599B3, 0x3F5A5F96), 
        (0xFF7FFFFF, 0x3F0599B3, 0x3F5A5F96), (0x000116C2, 0x000116C2, 0x3F800000), 
        (0x442E5000, 0xBE3AEBBB, 0x3F7BB2E5), (0xC5800400, 0x3E0BAAD1, 0x3F7D9B8C), 
        (0xC70E6152, 0xBF087DF6, 0x3F5893E8), (0x462E7787, 0x3F1D452C, 0x3F49FEC9), 
        (0x481C811A, 0x3F7EFCAB, 0x3DB6037C), (0xBF851C7B, 0xBF5CC442, 0x3F019B83), 
        (0x3EA1E5F9, 0x3E9F36BD, 0x3F734ED3), (0x419E5DD6, 0x3F4FAD25, 0x3F15B029), 
        (0x3FF59FA9, 0x3F70A474, 0xBEAEAB0A), (0xC8B57120, 0x3F426222, 0x3F269631), 
        (0xC403A08F, 0x3F752AA6, 0x3E935E40), (0xBC9A1A89, 0xBC9A1835, 0x3F7FF468), 
        (0xBAB7BEAC, 0xBAB7BEA8, 0x3F7FFFF0), (0x3C8CC223, 0x3C8CC05D, 0x3F7FF653), 
        (0xBCD29EFC, 0xBCD2990B, 0x3F7FEA57), (0x3C71497A, 0x3C71473E, 0x3F7FF8E5), 
        (0x496EC271, 0x3DF31FB3, 0x3F7E3092), (0xC2255E37, 0x3EF60CFF, 0xBF60804A), 
        (0xC3A33401, 0x3EA0BEAB, 0x3F730E5E), (0x4408BEA3, 0x3EAB81A2, 0x3F7135D4), 
        (0xC1DD7B30, 0xBF0E4136, 0xBF54D646), (0xBEDBBEFB, 0xBED50FBD, 0x3F68C80D), 
        (0x425C2C62, 0xBF7F7397, 0x3D85FD39), (0x407FFFA4, 0xBF41BCDE, 0xBF275647), 
        (0x3EB59831, 0x3EB1CFA3, 0x3F7010F6), (0xC69150AA, 0xBF5C8669, 0xBF0204A2), 
        (0xBB8B1311, 0xBB8B12F6, 0x3F7FFF69), (0xC258C78B, 0x3F3573B5, 0xBF3495EE), 
        (0xBD5BEE17, 0xBD5BD30A, 0x3F7FA18D), (0x47C8D3E0, 0xBF0BC4FE, 0x3F567A2C),
    ];

    #[test]
    fn sine_and_cosine_equal_glibc() {
        for &(angle, sin, cos) in &RECORDED {
            let (ours_sin, ours_cos) = sin_cos(f32::from_bits(angle));
            assert_eq!((ours_sin.to_bits(), ours_cos.to_bits()), (sin, cos), "{}", f32::from_bits(angle));
        }
    }

    #[test]
    fn the_digits_are_those_of_two_over_pi() {
        let leading = u64::from(TWO_OVER_PI.get_word(3)) << 32 | u64::from(TWO_OVER_PI.get_word(7));
        assert_eq!(leading as f64 / 2.0_f64.powi(64), std::f64::consts::FRAC_2_PI);
    }

    #[test]
    fn infinite_angles_have_no_sine() {
        assert!(sin_cos(f32::INFINITY).0.is_nan() && sin_cos(f32::NEG_INFINITY).1.is_nan());
        assert!(sin_cos(f32::NAN).0.is_nan());
    }
}
