//! Numbers written in radix r: the index arithmetic of the Bruck algorithms.

/// Number of radix-`radix` digits needed to write every number below `size`: `w = ceil(log_r size)`.
///
/// `radix` is at least 2.
pub fn digits(size: usize, radix: usize) -> u32 {
    let mut count = 0;
    let mut reach = 1;
    while reach < size {
        reach *= radix;
        count += 1;
    }
    count
}

/// The numbers below `size` whose digit at `position` is `digit`, ascending.
pub fn with_digit(size: usize, radix: usize, position: u32, digit: usize) -> impl Iterator<Item = usize> {
    let weight = radix.pow(position);
    let period = weight * radix;
    (digit * weight..size).step_by(period).flat_map(move |start| start..(start + weight).min(size))
}

/// How many digits of `number` are not zero.
pub fn nonzero_digits(mut number: usize, radix: usize) -> usize {
    let mut count = 0;
    while number > 0 {
        count += usize::from(!number.is_multiple_of(radix));
        number /= radix;
    }
    count
}

/// How many digits of `number` below `position` are not zero.
pub fn nonzero_digits_below(number: usize, radix: usize, position: u32) -> usize {
    nonzero_digits(number % radix.pow(position), radix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_is_the_rounded_up_logarithm() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(|size| digits(size, 2)), [0, 1, 2, 2, 3, 3, 4]);
        assert_eq!(digits(4096, 64), 2);
        assert_eq!(digits(6, 4), 2);
    }

    #[test]
    fn with_digit_lists_what_division_finds() {
        for size in 1..60 {
            for radix in 2..=size.max(2) {
                for position in 0..digits(size, radix) {
                    for digit in 0..radix {
                        let found: Vec<usize> = with_digit(size, radix, position, digit).collect();
                        let expected: Vec<usize> =
                            (0..size).filter(|n| n / radix.pow(position) % radix == digit).collect();
                        assert_eq!(found, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn nonzero_digits_counts() {
        assert_eq!(nonzero_digits(0, 3), 0);
        assert_eq!(nonzero_digits(0b1011, 2), 3);
        assert_eq!(nonzero_digits_below(0b1011, 2, 3), 2);
        assert_eq!(nonzero_digits_below(0b1011, 2, 0), 0);
    }
}
