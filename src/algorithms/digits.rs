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

/// Returns the smallest radix in which numbers below `size` have as few digits as in the given radix.
pub fn least_radix(size: usize, radix: usize) -> usize {
    let as_few = |&least: &usize| digits(size, least) == digits(size, radix);
    (2..radix).find(as_few).unwrap_or(radix)
}

/// `ceil(log2 size)`: the rounds until all ranks are reached, if every round doubles the number of reached ranks.
pub fn doublings(size: usize) -> usize {
    digits(size, 2) as usize
}

/// How many numbers below `size` have a single digit that is not zero: `w(r−1) − floor((r^w − size)/r^(w−1))`, where w
/// is the number of digits (Fan et al. 2022, equation 2).
pub fn with_one_nonzero_digit(size: usize, radix: usize) -> usize {
    match digits(size, radix) {
        0 => 0,
        w => w as usize * (radix - 1) - (radix.pow(w) - size) / radix.pow(w - 1),
    }
}

/// The numbers below `size` whose digit at `position` is `digit`, ascending.
pub fn with_digit(size: usize, radix: usize, position: u32, digit: usize) -> impl Iterator<Item = usize> {
    let weight = radix.pow(position);
    let period = weight * radix;
    (digit * weight..size).step_by(period).flat_map(move |start| start..(start + weight).min(size))
}

/// How many digits are not zero, of each number below `size`.
pub fn nonzero_digits_of_all(size: usize, radix: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = Vec::with_capacity(size);
    for number in 0..size {
        let higher = if number == 0 { 0 } else { counts[number / radix] };
        counts.push(higher + usize::from(!number.is_multiple_of(radix)));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonzero_digits(mut number: usize, radix: usize) -> usize {
        let mut count = 0;
        while number > 0 {
            count += usize::from(!number.is_multiple_of(radix));
            number /= radix;
        }
        count
    }

    #[test]
    fn digits_of_all_numbers_are_those_of_each() {
        for radix in 2..7 {
            let each: Vec<usize> = (0..100).map(|number| nonzero_digits(number, radix)).collect();
            assert_eq!(nonzero_digits_of_all(100, radix), each);
        }
    }

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
    fn single_nonzero_digits_are_counted() {
        let known =
            [((1, 2), 0), ((8, 2), 3), ((9, 3), 4), ((64, 4), 9), ((10, 10), 9), ((10, 4), 5), ((6, 4), 4)];
        for ((size, radix), expected) in known {
            assert_eq!(with_one_nonzero_digit(size, radix), expected, "p={size} r={radix}");
        }
        for size in 1..60 {
            for radix in 2..=size.max(2) {
                let found = (1..size).filter(|&number| nonzero_digits(number, radix) == 1).count();
                assert_eq!(with_one_nonzero_digit(size, radix), found, "p={size} r={radix}");
            }
        }
    }

    #[test]
    fn nonzero_digits_counts() {
        assert_eq!(nonzero_digits(0, 3), 0);
        assert_eq!(nonzero_digits(0b1011, 2), 3);
    }
}
