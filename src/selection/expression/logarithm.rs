//! The binary logarithm by sums, products and quotients alone, which IEEE 754 defines bit by bit. The last bit of the system's
//! logarithm depends on the processor and on the C library.

use std::f64::consts::{LOG2_E, SQRT_2};

/// Bits of a number's fraction, and the exponent's value for 1.
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const BIAS: i64 = f64::MAX_EXP as i64 - 1;

/// The powers of the series that matter: the next one is below the last bit.
const TERMS: u32 = 12;

/// Returns the logarithm; exact for powers of two.
pub fn log2(number: f64) -> f64 {
    if number.is_nan() || number < 0.0 {
        return f64::NAN;
    }
    if number == 0.0 {
        return f64::NEG_INFINITY;
    }
    if number.is_infinite() {
        return number;
    }
    if number.is_subnormal() {
        let scale = (1u64 << FRACTION_BITS) as f64;
        return log2(number * scale) - f64::from(FRACTION_BITS);
    }
    let exponent = (number.to_bits() >> FRACTION_BITS) as i64 - BIAS;
    let fraction = number.to_bits() & ((1 << FRACTION_BITS) - 1);
    let significand = f64::from_bits((BIAS as u64) << FRACTION_BITS | fraction);
    match significand > SQRT_2 {
        true => (exponent + 1) as f64 + log2_near_one(significand / 2.0),
        false => exponent as f64 + log2_near_one(significand),
    }
}

/// Returns the logarithm of a number from 1/√2 to √2, by ln x = 2 (t + t³/3 + t⁵/5 + …) for t = (x − 1)/(x + 1).
fn log2_near_one(number: f64) -> f64 {
    let ratio = (number - 1.0) / (number + 1.0);
    let square = ratio * ratio;
    let sum = (0..TERMS).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    2.0 * LOG2_E * ratio * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        for exponent in -1074..=1023 {
            let power = 2f64.powi(exponent.max(-1022)) / 2f64.powi((-1022 - exponent).max(0));
            assert_eq!(log2(power), f64::from(exponent));
        }
    }

    #[test]
    fn others_are_those_of_the_system_but_for_the_last_bits() {
        let mut number = 1e-300;
        while number < 1e300 {
            let (own, expected) = (log2(number), number.log2());
            assert!(
                (own - expected).abs() <= 4.0 * f64::EPSILON * expected.abs().max(1.0),
                "{number}: {own}"
            );
            number *= 1.037;
        }
        for near in [1.0 - 1e-9, 1.0 + 1e-9] {
            assert!((log2(near) / near.log2() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_bits_are_the_same_on_every_machine() {
        for (number, bits) in [
            (3.0, 0x3ff9_5c01_a39f_bd68),
            (10.0, 0x400a_934f_0979_a371),
            (1e-3, 0xc023_ee7b_471b_3a95),
            (12345.678, 0x402b_2ef5_b86e_63d0),
        ] {
            assert_eq!(log2(number).to_bits(), bits, "{number}: {}", log2(number));
        }
    }

    #[test]
    fn what_has_no_logarithm_has_none() {
        assert!(log2(-1.0).is_nan() && log2(f64::NAN).is_nan() && log2(f64::NEG_INFINITY).is_nan());
        assert_eq!([0.0, -0.0].map(log2), [f64::NEG_INFINITY; 2]);
        assert_eq!(log2(f64::INFINITY), f64::INFINITY);
    }
}
