//! Finds the stencils to which the neighbours of one rank may belong.

use super::graph::{Dimension, Graph, Neighbours};
use super::stencil::{Stencil, is_zero};
use std::ops::RangeInclusive;

/// Numbers of dimensions that are tried.
const DIMENSIONS: RangeInclusive<usize> = 2..=4;

/// How many grids are tried, with borders and without: up to 64 stencils in four dimensions, a bit each in [`vote`].
const MOST_GRIDS: usize = 4;

/// How many offsets are found at most: one for each neighbour on each torus. This takes about half a second.
const MOST_OFFSETS: usize = 1 << 19;

/// Numbers of neighbours with which combining can pay (from two steps in two dimensions on) after a short search.
const NEIGHBOURS: RangeInclusive<usize> = 4..=1 << 10;

/// Whether combining may pay if the rank with the most neighbours has this many.
pub fn may_gain(neighbours: usize) -> bool {
    NEIGHBOURS.contains(&neighbours)
}

/// Returns the stencils that a rank with these destinations may have, fewest combined messages first. Combining sends
/// at most half as many messages with each of them. All ranks find the same stencils for the same rank.
pub fn candidates(size: usize, rank: usize, destinations: &[usize]) -> Vec<Stencil> {
    if !may_gain(destinations.len()) {
        return Vec::new();
    }
    let stencil = |grid: &[Dimension]| {
        let somewhere = Stencil::new(grid, []);
        Stencil::new(grid, destinations.iter().map(|&other| somewhere.between(rank, other)))
    };
    let pays = |stencil: &Stencil| 2 * stencil.combined_messages() <= distinct(stencil);
    let tori = tried(size, destinations.len()).into_iter().map(|lengths| stencil(&torus(&lengths)));
    let mut tori: Vec<Stencil> = tori.filter(pays).collect();
    tori.sort_by_cached_key(|torus| (torus.combined_messages(), hops(torus)));
    tori.truncate(MOST_GRIDS);
    let bordered = tori.iter().flat_map(|torus| borders(torus.grid()));
    bordered.map(|grid| stencil(&grid)).filter(pays).collect()
}

/// Returns a bit for each stencil: whether it fits a rank.
pub fn vote(stencils: &[Stencil], fits: impl Fn(&Stencil) -> bool) -> u64 {
    let bits = stencils.iter().enumerate().map(|(bit, stencil)| u64::from(fits(stencil)) << bit);
    bits.sum()
}

/// Returns the first stencil that all ranks voted for and that makes all blocks equally long.
pub fn elected(stencils: Vec<Stencil>, votes: impl IntoIterator<Item = u64>) -> Option<Stencil> {
    let common = votes.into_iter().fold(u64::MAX, |common, vote| common & vote);
    let mut fitting = stencils.into_iter().enumerate().filter(|(bit, _)| common >> bit & 1 == 1);
    fitting.find(|(_, stencil)| stencil.has_equal_blocks()).map(|(_, stencil)| stencil)
}

/// Returns the stencil that the ranks of a graph find if each knows only its own neighbours. The search uses the rank
/// with the most neighbours, because this rank is away from borders, if any rank is.
pub fn found(graph: &Graph) -> Option<Stencil> {
    let all: Vec<&Neighbours> = graph.all().collect();
    let most = all.iter().map(|own| own.destinations.len()).max()?;
    let first = all.iter().position(|own| own.destinations.len() == most)?;
    let destinations: Vec<usize> = all[first].destinations.iter().map(|edge| edge.peer).collect();
    let stencils = candidates(all.len(), first, &destinations);
    let fits = |(rank, own): (usize, &&Neighbours)| vote(&stencils, |stencil| stencil.fits(rank, own));
    let votes: Vec<u64> = all.iter().enumerate().map(fits).collect();
    elected(stencils, votes)
}

/// The number of ranks that a rank sends to, besides itself.
fn distinct(stencil: &Stencil) -> usize {
    let offsets = stencil.offsets().chunk_by(|one, other| one == other);
    offsets.filter(|same| !is_zero(&same[0])).count()
}

/// How many blocks a rank away from borders sends in an alltoall with combining.
fn hops(stencil: &Stencil) -> usize {
    stencil.offsets().iter().flatten().filter(|&&step| step != 0).count()
}

fn torus(lengths: &[usize]) -> Vec<Dimension> {
    lengths.iter().map(|&length| Dimension { length, periodic: true }).collect()
}

/// Returns the grid with all choices of borders. A dimension of two ranks stays periodic: borders change no offset.
fn borders(grid: &[Dimension]) -> Vec<Vec<Dimension>> {
    let longer = |grids: Vec<Vec<Dimension>>, dimension: &Dimension| {
        let kinds: &[bool] = if dimension.length > 2 { &[true, false] } else { &[true] };
        let with = |grid: Vec<Dimension>| {
            kinds
                .iter()
                .map(move |&periodic| [grid.clone(), vec![Dimension { periodic, ..*dimension }]].concat())
        };
        grids.into_iter().flat_map(with).collect()
    };
    grid.iter().fold(vec![Vec::new()], longer)
}

/// Returns the tori that are tried, fewest dimensions first. All ranks try the same ones.
fn tried(size: usize, neighbours: usize) -> Vec<Vec<usize>> {
    let mut tori = factorisations(size);
    tori.sort_by_key(Vec::len);
    tori.truncate(MOST_OFFSETS / neighbours);
    tori
}

/// The ways to write a number as a product of numbers from 2 up, in every order.
fn factorisations(number: usize) -> Vec<Vec<usize>> {
    let divisors: Vec<usize> = (2..=number).filter(|&divisor| number.is_multiple_of(divisor)).collect();
    let mut open = vec![(Vec::new(), number)];
    let mut found = Vec::new();
    while let Some((factors, rest)) = open.pop() {
        if rest == 1 && DIMENSIONS.contains(&factors.len()) {
            found.push(factors);
        } else if factors.len() < *DIMENSIONS.end() {
            let next = divisors.iter().filter(|&&divisor| rest.is_multiple_of(divisor));
            open.extend(next.map(|&divisor| ([&factors[..], &[divisor]].concat(), rest / divisor)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{graphs, stencils};

    fn around(dimensions: &[(usize, bool)]) -> Stencil {
        let dimension = |&(length, periodic)| Dimension { length, periodic };
        Stencil::around(&dimensions.iter().map(dimension).collect::<Vec<_>>())
    }

    #[test]
    fn stencils_are_found_in_their_neighbours() {
        for dimensions in [
            &[(3, true), (3, true)][..],
            &[(3, false), (3, false)],
            &[(4, true), (3, false)],
            &[(5, false), (8, false)],
            &[(3, true), (3, true), (3, true)],
            &[(4, true), (4, true), (4, true)],
            &[(4, false), (4, false), (4, false)],
            &[(5, true), (4, false), (6, true)],
            &[(3, false), (3, false), (3, false), (3, false)],
        ] {
            let stencil = around(dimensions);
            let found = found(&Graph::of_stencil(stencil));
            let found = found.unwrap_or_else(|| panic!("{dimensions:?}"));
            assert_eq!(found.combined_messages(), 2 * dimensions.len(), "{dimensions:?}: {found:?}");
        }
        // 7 neighbours by 3 messages, with borders or without.
        for periodic in [true, false] {
            let found = found(&Graph::of_stencil(around(&[(2, periodic); 3])));
            assert_eq!(found.unwrap().combined_messages(), 3);
        }
    }

    #[test]
    fn what_is_found_fits_all_ranks() {
        let mut number = 0;
        for size in 1..=30 {
            for graph in graphs(size) {
                let Some(stencil) = found(&graph) else { continue };
                assert_eq!(stencil.size(), size);
                assert!(graph.all().enumerate().all(|(rank, own)| stencil.fits(rank, own)));
                assert!(2 * stencil.combined_messages() <= stencil.degree());
                number += 1;
            }
        }
        assert!(number > 50, "{number}");
        assert!(stencils(27).iter().any(|stencil| stencil.dimensions() == 3));
    }

    #[test]
    fn nearly_a_stencil_is_none() {
        let stencil = around(&[(4, true), (4, true)]);
        let mut all: Vec<Neighbours> = (0..16).map(|rank| stencil.neighbours(rank)).collect();
        assert!(found(&Graph::new(all.clone())).is_some());
        // Two ranks send each other one block more; then two edges are crossed over.
        let both = |all: &mut [Neighbours], edits: [(usize, usize, usize); 2]| {
            for (rank, edge, peer) in edits {
                all[rank].destinations[edge].peer = peer;
                all[rank].sources[edge].peer = peer;
            }
        };
        let crossed = all.clone();
        let far = |rank: usize| (rank + 8) % 16;
        let edge = all[0].destinations.iter().position(|edge| edge.peer == 1).unwrap();
        both(&mut all, [(0, edge, far(0)), (far(0), edge, 0)]);
        assert_eq!(found(&Graph::new(all)), None);
        let mut turned = crossed;
        turned[3].destinations.pop();
        assert_eq!(found(&Graph::new(turned)), None);
    }

    #[test]
    fn many_neighbours_on_many_grids_do_not_take_long() {
        let all = factorisations(5040);
        assert_eq!(tried(5040, 26).len(), all.len());
        let tried = tried(5040, 1000);
        assert!(1000 * all.len() > 6 * MOST_OFFSETS && 1000 * tried.len() <= MOST_OFFSETS);
        assert!(all.iter().filter(|lengths| lengths.len() == 2).all(|lengths| tried.contains(lengths)));
    }

    #[test]
    fn numbers_are_products_in_every_order() {
        let mut found = factorisations(12);
        found.sort();
        let expected: [&[usize]; 7] =
            [&[2, 2, 3], &[2, 3, 2], &[2, 6], &[3, 2, 2], &[3, 4], &[4, 3], &[6, 2]];
        assert_eq!(found, expected);
        assert!(factorisations(13).is_empty() && factorisations(1).is_empty());
        assert_eq!(factorisations(16).len(), 3 + 3 + 1);
    }
}
