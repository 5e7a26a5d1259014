//! Sine and cosine in double precision, the bits of glibc's on a processor with fused multiply-add but for
//! about one argument in a hundred thousand.
//!
//! 1. glibc's `sin` and `cos` are not correctly rounded: of arguments below 1/4, two sines in a thousand
//!    differ from the rounded true one. A trajectory that is to be the reference's in every bit needs those
//!    errors too.
//! 2. They follow from the order of roundings, which is that of the classic table method: a table of the
//!    sines and cosines of multiples of 1/128, kept to twice the precision; the addition theorems; short
//!    polynomials in the rest. Here are those steps in that order, in the sums that a compiler fuses.
//! 3. Tables and coefficients are worked out from the definitions. Where a coefficient's last bits differ
//!    from glibc's, a result's last bit may, at the rate above.
//!
//! Not done: correctly rounded results. They are cleaner, and differ from glibc's a hundred times as often.

use std::f64::consts::FRAC_2_PI;

/// Steps of the table in one unit of the angle.
const STEPS: f64 = 128.0;

/// Entries of the table: those nearest to the angles below [`UNREDUCED`].
const ENTRIES: usize = 110;

/// Angles below this are their own sine, and their cosine is one.
const TINY: f64 = 1.0 / (1 << 27) as f64;

/// Angles below this are looked up as they are; others are brought to pi/4 or less.
const UNREDUCED: f64 = 109.5 / STEPS;

/// Angles below this have a sine without a table.
const SMALL: f64 = 0.126;

/// Angles up to this are reduced with the three parts of pi/2 below; their multiple of pi/2 has 27 bits or
/// fewer.
const REDUCED: f64 = 1e8;

/// pi/2 in parts of 26, 26 and 53 bits, of which the first two have exact products with that multiple.
const HALF_PI: [f64; 3] = [
    f64::from_bits(0x3FF9_21FB_5000_0000),
    f64::from_bits(0x3E51_10B4_6000_0000),
    f64::from_bits(0x3C91_A626_3314_5C07),
];

/// The odd polynomial with the least relative error for the sine on `[-1/4, 1/4]`, from the third power on.
const SMALL_SIN: [f64; 5] = [
    -0.16666666666666666,
    0.008333333333332478,
    -0.0001984126983496505,
    2.7557298958396564e-6,
    -2.502253624743617e-8,
];

/// `(sin(angle), cos(angle))` in double precision; not-a-number for infinite angles. Beyond 1e8 the last bits
/// are those of the `libm` crate.
#[must_use]
pub fn sin_cos_f64(angle: f64) -> (f64, f64) {
    let size = angle.abs();
    if size < TINY {
        return (angle, 1.0);
    }
    if size < UNREDUCED {
        return (sin_reduced(angle, 0.0), cos_reduced(angle, 0.0));
    }
    if size > REDUCED || size.is_nan() {
        return (libm::sin(angle), libm::cos(angle));
    }
    let (quadrant, rest, tail) = reduce(angle);
    let (sin, cos) = (sin_reduced(rest, tail), cos_reduced(rest, tail));
    match quadrant & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The nearest multiple of pi/2 and what is left of the angle, as a number and a much smaller one.
fn reduce(angle: f64) -> (i64, f64, f64) {
    let multiple = (angle * FRAC_2_PI).round_ties_even();
    let [high, middle, low] = HALF_PI;
    let near = (angle - multiple * high) - multiple * middle;
    let least = multiple * low;
    let rest = near - least;
    (multiple as i64, rest, (near - rest) - least)
}

/// Sine of `rest + tail`.
fn sin_reduced(rest: f64, tail: f64) -> f64 {
    if rest.abs() < SMALL {
        let square = rest * rest;
        let sum = SMALL_SIN.iter().rev().skip(1).fold(SMALL_SIN[4], |sum, &next| sum.mul_add(square, next));
        return rest + sum.mul_add(rest, -0.5 * tail).mul_add(square, tail);
    }
    let tail = if rest > 0.0 { tail } else { -tail };
    let (&Entry { sin, sin_tail, cos, cos_tail }, offset) = look_up(rest.abs());
    let square = offset * offset;
    let small_sin = offset + (offset * square).mul_add(offset_sin(square), tail);
    let small_cos = offset.mul_add(tail, square * offset_cos(square));
    let sum = cos.mul_add(small_sin, (-sin).mul_add(small_cos, small_sin.mul_add(cos_tail, sin_tail)));
    (sin + sum).copysign(rest)
}

/// Cosine of `rest + tail`.
fn cos_reduced(rest: f64, tail: f64) -> f64 {
    let tail = if rest < 0.0 { -tail } else { tail };
    let (&Entry { sin, sin_tail, cos, cos_tail }, offset) = look_up(rest.abs());
    let offset = offset + tail;
    let square = offset * offset;
    let small_sin = (offset * square).mul_add(offset_sin(square), offset);
    let small_cos = square * offset_cos(square);
    let sum = (-sin).mul_add(small_sin, (-cos).mul_add(small_cos, (-small_sin).mul_add(sin_tail, cos_tail)));
    cos + sum
}

/// What the sine of an offset adds to it, over the offset's cube.
fn offset_sin(square: f64) -> f64 {
    square.mul_add(1.0 / 120.0, -1.0 / 6.0)
}

/// What the cosine of an offset lacks to one, over the offset's square.
fn offset_cos(square: f64) -> f64 {
    square.mul_add(square.mul_add(1.0 / 720.0, -1.0 / 24.0), 0.5)
}

/// The nearest entry and the way from its angle.
fn look_up(angle: f64) -> (&'static Entry, f64) {
    let step = (angle * STEPS).round_ties_even();
    (&TABLE[step as usize], angle - step / STEPS)
}

/// Sine and cosine of one angle, each with what rounding left over.
#[derive(Clone, Copy)]
struct Entry {
    sin: f64,
    sin_tail: f64,
    cos: f64,
    cos_tail: f64,
}

static TABLE: [Entry; ENTRIES] = table();

const fn table() -> [Entry; ENTRIES] {
    let mut table = [Entry { sin: 0.0, sin_tail: 0.0, cos: 1.0, cos_tail: 0.0 }; ENTRIES];
    let mut step = 1;
    while step < ENTRIES {
        let (sin, sin_tail) = two_parts(series(step as i128, 1));
        let (cos, cos_tail) = two_parts(series(step as i128, 0));
        table[step] = Entry { sin, sin_tail, cos, cos_tail };
        step += 1;
    }
    table
}

/// Binary places of the fixed-point numbers that the table is worked out in.
const PLACES: u32 = 110;

/// The Taylor series in `step / 128`, in fixed point: of the cosine from power 0, of the sine from power 1.
const fn series(step: i128, first: i128) -> i128 {
    let mut power = first;
    let mut term = if first == 0 { 1 << PLACES } else { step << (PLACES - 7) };
    let mut sum = 0;
    while term != 0 {
        sum += term;
        // The square of the step over that of 128 and over the next two factors of the factorial.
        term = -(term * step * step) / (((power + 1) * (power + 2)) << 14);
        power += 2;
    }
    sum
}

/// A fixed-point number as the nearest double and the double nearest to the rest.
const fn two_parts(number: i128) -> (f64, f64) {
    const UNIT: f64 = 1.0 / (1_u128 << PLACES) as f64;
    let head = number as f64;
    (head * UNIT, (number - head as i128) as f64 * UNIT)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, sin_cos_f64};

    /// Angle, sine and cosine, recorded from glibc 2.36 on x86-64 with FMA; of the last eight the true sine
    /// rounds otherwise.
    #[rustfmt::skip]
    const RECORDED: [(u64, u64, u64); 40] = [
        (0x0000000000000000, 0x0000000000000000, 0x3FF0000000000000),
        (0x8000000000000000, 0x8000000000000000, 0x3FF0000000000000),
        (0x01A56E1FC2F8F359, 0x01A56E1FC2F8F359, 0x3FF0000000000000),
        (0x3E40000000000000, 0x3E40000000000000, 0x3FF0000000000000),
        (0xBFA999999999999A, 0xBFA996DEA2FF643C, 0x3FEFF5C31B289258),
        (0x3FC020C3C4E64E7E, 0x3FC015D944428CD3, 0x3FEFBF0ED8AB2FBC),
        (0x3FC020C49BA5E354, 0x3FC015DA194E500E, 0x3FEFBF0ED1EC08ED),
        (0xBFD0000000000000, 0xBFCFAAEED4F31577, 0x3FEF01549F7DEEA1),
        (0x3FE0000000000000, 0x3FDEAEE8744B05F0, 0x3FEC1528065B7D50),
        (0x3FE921FB54442D18, 0x3FE6A09E667F3BCC, 0x3FE6A09E667F3BCD),
        (0x3FEB5FFE6D58C8EF, 0x3FE827F5CA1C4868, 0x3FE4FCD9390FCF78),
        (0xBFEB604189374BC7, 0xBFE82821CD954050, 0x3FE4FCA6902D5A0C),
        (0x3FF921FB54442D18, 0x3FF0000000000000, 0x3C91A62633145C07),
        (0x4003333333333333, 0x3FE59D64F5C3D19B, 0xBFE798BAB490D185),
        (0x400921FB54442D18, 0x3CA1A62633145C07, 0xBFF0000000000000),
        (0xC01C000000000000, 0xBFE50608C26D0A08, 0x3FE81FF79ED92017),
        (0x4076300000000000, 0xBEFF9BD0307D1DE3, 0xBFEFFFFFFFC18E4C),
        (0x4197D783FC000000, 0x3FE9E48379B16E88, 0x3FE2CDB23EBC4568),
        (0x3F892B96A023AF34, 0x3F892B6D19442B6B, 0x3FEFFF619DCCD97A),
        (0x3F98C24D0496D960, 0x3F98C1AEEC964A04, 0x3FEFFD9B05BB7560),
        (0x3FB222FE4A6C3198, 0x3FB21F1C3A37E579, 0x3FEFEB732AC441D4),
        (0x3FBB2F2427BE2868, 0x3FBB2211F668FEA8, 0x3FEFD1DB7639080F),
        (0x3FB9CB3CAFCDA576, 0x3FB9C011EAEE9452, 0x3FEFD673CD7FEACF),
        (0x3FC6B445EA48287D, 0x3FC695D7CDCD8FF2, 0x3FEF7F77AA74B270),
        (0xBFD81D6C3438C60F, 0xBFD78C60A0488D54, 0x3FEDC1515ACF8528),
        (0xBF9C2973B08AB650, 0xBF9C288B0AABE233, 0x3FEFFCE6F4C7116F),
        (0x3FE81E5CEC7E59D1, 0x3FE5E6299E6785F0, 0x3FE75541EBBDBF03),
        (0x3FDC9A65B13E9618, 0x3FDBA90E7FCB41F2, 0x3FECDB63B47ED5CD),
        (0x40033E43E6F0EC74, 0x3FE57CAD0ED379DA, 0xBFE7B689A3F951BA),
        (0xC01EF18AB6483584, 0xBFEFC6EFA1FA4409, 0x3FBE29E1ECBB6B4F),
        (0xC018BEA8B527CBE0, 0x3FB8CAB15D4B8F41, 0x3FEFD97EB999415E),
        (0xC0E8BFADDF0921AB, 0x3FEB4EB9C86948F3, 0x3FE0AEAB646CA198),
        (0x3FBF1860EC3F02E8, 0x3FBF04D18DA5C0EA, 0x3FEFC3A4664443B8),
        (0x3FC0725C9F15946A, 0x3FC066C93BA35FBC, 0x3FEFBC78234DF902),
        (0xBFC87AD7F3BF7036, 0xBFC854B5E65AC4AA, 0x3FEF6AA3E5DD67BE),
        (0xBFC79222446AE9C8, 0xBFC77016AAD7DEAA, 0x3FEF757EF8EAC1A8),
        (0x3FCE9CED7F7806F2, 0x3FCE526E06A13108, 0x3FEF16D361F3C815),
        (0x3FC836F2BCF35D86, 0x3FC8120A2D2052CC, 0x3FEF6DD974937622),
        (0x3FC28FB0B8E07052, 0x3FC27F0E06C9EFE6, 0x3FEFAA053C191C2A),
        (0xBFCB413C15A02C9E, 0xBFCB0CA19944703A, 0x3FEF46FE85FE6A0E),
    ];

    #[test]
    fn sine_and_cosine_equal_glibc() {
        for &(angle, sin, cos) in &RECORDED {
            let (ours_sin, ours_cos) = sin_cos_f64(f64::from_bits(angle));
            assert_eq!((ours_sin.to_bits(), ours_cos.to_bits()), (sin, cos), "{}", f64::from_bits(angle));
        }
    }

    #[test]
    fn no_result_is_further_than_two_last_bits_from_another_library() {
        for step in -400_000..400_000 {
            let angle = f64::from(step) * 3.7e-5;
            let (sin, cos) = sin_cos_f64(angle);
            for (ours, other) in [(sin, libm::sin(angle)), (cos, libm::cos(angle))] {
                assert!(ours.to_bits().abs_diff(other.to_bits()) <= 2, "{angle}: {ours} and {other}");
            }
        }
    }

    #[test]
    fn heads_and_tails_of_the_table_are_on_the_unit_circle() {
        for entry in &TABLE {
            let square =
                |head: f64, tail: f64| (head * head, head.mul_add(head, -(head * head)) + 2.0 * head * tail);
            let ((sin, sin_rest), (cos, cos_rest)) =
                (square(entry.sin, entry.sin_tail), square(entry.cos, entry.cos_tail));
            // Without rounding in this order: the first difference is exact from 1/2 on, the sum because it
            // is tiny.
            let off = ((sin.max(cos) - 1.0) + sin.min(cos)) + (sin_rest + cos_rest);
            assert!(off.abs() < 1e-30, "off by {off}");
        }
    }

    #[test]
    fn infinite_angles_have_no_sine() {
        assert!(sin_cos_f64(f64::INFINITY).0.is_nan() && sin_cos_f64(f64::NAN).1.is_nan());
        assert_eq!(sin_cos_f64(1e9), (libm::sin(1e9), libm::cos(1e9)));
    }
}
