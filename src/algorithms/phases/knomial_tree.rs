//! The k-nomial tree over ranks 0 … p − 1 rooted at 0: with ranks written in radix k, the parent lacks the last digit
//! that is not zero. The binomial tree is that of radix 2.

/// The parent.
pub fn parent(rank: usize, radix: usize) -> Option<usize> {
    let weight = reach(rank, rank + 1, radix);
    (rank > 0).then(|| rank - rank / weight % radix * weight)
}

/// The children, those with the largest subtrees first.
pub fn children(rank: usize, size: usize, radix: usize) -> impl Iterator<Item = usize> {
    let weights = std::iter::successors(Some(reach(rank, size, radix)), move |weight| Some(weight / radix));
    let below = weights.skip(1).take_while(|&weight| weight > 0);
    below
        .flat_map(move |weight| (1..radix).map(move |digit| rank + digit * weight))
        .filter(move |&child| child < size)
}

/// The weight of the last digit that is not zero; for rank 0 that of the first digit that no rank below `size` has.
fn reach(rank: usize, size: usize, radix: usize) -> usize {
    let mut weight = 1;
    while weight < size && rank.is_multiple_of(weight * radix) {
        weight *= radix;
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::phases::binomial_tree;

    #[test]
    fn children_and_parents_agree() {
        for size in 1..40 {
            for radix in 2..=size.max(2) {
                let edges =
                    (0..size).flat_map(|rank| children(rank, size, radix).map(move |child| (child, rank)));
                let mut edges: Vec<(usize, usize)> = edges.collect();
                edges.sort();
                let upwards = (1..size).map(|rank| (rank, parent(rank, radix).unwrap()));
                assert_eq!(edges, upwards.collect::<Vec<_>>(), "p={size} k={radix}");
                assert_eq!(parent(0, radix), None);
            }
        }
    }

    #[test]
    fn radix_two_is_binomial() {
        for size in 1..40 {
            for rank in 0..size {
                assert!(children(rank, size, 2).eq(binomial_tree::children(rank, size)));
            }
        }
    }
}
