//! Symbolic values of blocks: inputs, and combinations of them.

use std::collections::HashMap;
use std::ops::Range;

/// A value that a block can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);

/// All values of one run. The first `ranks · blocks` are the inputs, the others are combinations of earlier
/// ones.
pub struct Values {
    /// Each rank as a set of its own.
    ranks: Vec<Ranks>,
    blocks: usize,
    combined: Vec<Combined>,
    /// The first value of each form, by the forms of its operands and the function that combined them.
    forms: HashMap<(Value, Value, Function), Value>,
}

/// Which of an operator's functions combines operands. They need not give the same bits, as the maximum of a
/// number and a NaN may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// The function that leaves the result where the right operand was.
    TwoBuffers,
    /// The function that leaves the result in a third place: an operand in a slot must stay as it is.
    ThreeBuffers,
}

struct Combined {
    left: Value,
    right: Value,
    function: Function,
    block: usize,
    /// The first value that is the same expression.
    form: Value,
    contributors: Ranks,
    /// Whether the operands, from left to right, come from consecutive ascending ranks.
    ascending: bool,
}

impl Values {
    /// Returns the inputs of `ranks` ranks, each of `blocks` blocks.
    pub fn new(ranks: usize, blocks: usize) -> Self {
        let ranks = (0..ranks).map(|rank| Ranks::range(rank..rank + 1)).collect();
        Values { ranks, blocks, combined: Vec::new(), forms: HashMap::new() }
    }

    /// Returns a rank's input block.
    pub fn input(&self, rank: usize, block: usize) -> Value {
        Value((rank * self.blocks + block) as u32)
    }

    /// Returns `left ⊕ right`; `None` if they have a contribution in common, or are of different blocks of
    /// the ranks' vectors. Different blocks may meet where all blocks are equally long.
    pub fn combine(&mut self, left: Value, right: Value, function: Function) -> Option<Value> {
        let block = Some(self.block(left)).filter(|&block| block == self.block(right))?;
        let contributors = self.contributors(left).disjoint_union(self.contributors(right))?;
        let ascending = self.is_ascending(left)
            && self.is_ascending(right)
            && self.contributors(left).end() == self.contributors(right).start();
        let value = Value((self.ranks.len() * self.blocks + self.combined.len()) as u32);
        let key = (self.form(left), self.form(right), function);
        let form = *self.forms.entry(key).or_insert(value);
        self.combined.push(Combined { left, right, function, block, form, contributors, ascending });
        Some(value)
    }

    /// Whether exactly these ranks have contributed to the value.
    pub fn is_complete(&self, value: Value, ranks: Range<usize>) -> bool {
        self.contributors(value).0 == [ranks]
    }

    /// Whether the operands of the value are combined in the order of their ranks, none left out in between.
    pub fn is_ascending(&self, value: Value) -> bool {
        self.combined(value).is_none_or(|combined| combined.ascending)
    }

    /// Whether the values are the same expression. Exchanged operands make a difference: even an operator
    /// that commutes may then give other bits, as the maximum of a number and a NaN shows.
    pub fn are_alike(&self, first: Value, second: Value) -> bool {
        self.form(first) == self.form(second)
    }

    /// The block of the ranks' vectors that the value belongs to.
    pub fn block(&self, value: Value) -> usize {
        self.combined(value).map_or(value.0 as usize % self.blocks, |combined| combined.block)
    }

    /// Returns the left and the right operand, and the function that combined them. `Err`: it is this rank's
    /// input.
    pub fn parts(&self, value: Value) -> Result<(Value, Value, Function), usize> {
        let combined = self.combined(value).ok_or(value.0 as usize / self.blocks)?;
        Ok((combined.left, combined.right, combined.function))
    }

    /// The value in words.
    pub fn describe(&self, value: Value) -> String {
        let block = self.block(value);
        match self.combined(value) {
            None => format!("block {block} of {}", self.operands(value)),
            Some(Combined { left, right, .. }) => {
                format!("block {block} of {} ⊕ {}", self.operands(*left), self.operands(*right))
            }
        }
    }

    fn operands(&self, value: Value) -> String {
        match self.combined(value) {
            None => (value.0 as usize / self.blocks).to_string(),
            Some(Combined { left, right, .. }) => {
                format!("({} ⊕ {})", self.operands(*left), self.operands(*right))
            }
        }
    }

    fn combined(&self, value: Value) -> Option<&Combined> {
        (value.0 as usize).checked_sub(self.ranks.len() * self.blocks).map(|index| &self.combined[index])
    }

    fn form(&self, value: Value) -> Value {
        self.combined(value).map_or(value, |combined| combined.form)
    }

    fn contributors(&self, value: Value) -> &Ranks {
        match self.combined(value) {
            None => &self.ranks[value.0 as usize / self.blocks],
            Some(combined) => &combined.contributors,
        }
    }
}

/// A set of ranks as ascending ranges with gaps between them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranks(Vec<Range<usize>>);

impl Ranks {
    fn range(ranks: Range<usize>) -> Ranks {
        Ranks(std::iter::once(ranks).collect())
    }

    fn start(&self) -> usize {
        self.0[0].start
    }

    fn end(&self) -> usize {
        self.0[self.0.len() - 1].end
    }

    fn disjoint_union(&self, other: &Ranks) -> Option<Ranks> {
        // The usual case.
        if let ([left], [right]) = (&self.0[..], &other.0[..])
            && left.end == right.start
        {
            return Some(Ranks::range(left.start..right.end));
        }
        let mut ranges: Vec<Range<usize>> = self.0.iter().chain(&other.0).cloned().collect();
        ranges.sort_by_key(|range| range.start);
        let mut union: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match union.last_mut() {
                Some(last) if last.end > range.start => return None,
                Some(last) if last.end == range.start => last.end = range.end,
                _ => union.push(range),
            }
        }
        Some(Ranks(union))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combine(values: &mut Values, left: Value, right: Value) -> Value {
        values.combine(left, right, Function::TwoBuffers).unwrap()
    }

    /// Block 1 of the given ranks, combined from the left.
    fn chain(values: &mut Values, ranks: &[usize]) -> Value {
        let inputs: Vec<Value> = ranks.iter().map(|&rank| values.input(rank, 1)).collect();
        inputs.into_iter().reduce(|left, right| combine(values, left, right)).unwrap()
    }

    #[test]
    fn a_contribution_enters_once() {
        let mut values = Values::new(4, 2);
        let (first, second) = (chain(&mut values, &[0, 3]), chain(&mut values, &[3, 1]));
        for other in [first, second] {
            assert_eq!(values.combine(first, other, Function::TwoBuffers), None);
        }
    }

    #[test]
    fn complete_means_all_ranks_in_any_order() {
        let mut values = Values::new(4, 2);
        let (partial, whole) = (chain(&mut values, &[2, 0, 3]), chain(&mut values, &[2, 0, 3, 1]));
        assert!(!values.is_complete(partial, 0..4));
        assert!(values.is_complete(whole, 0..4));
        assert!(!values.is_ascending(whole));
        assert_eq!(values.describe(whole), "block 1 of ((2 ⊕ 0) ⊕ 3) ⊕ 1");
    }

    #[test]
    fn ascending_means_without_gaps() {
        let mut values = Values::new(4, 2);
        let (gap, run) = (chain(&mut values, &[0, 2]), chain(&mut values, &[1, 2, 3]));
        assert!(!values.is_ascending(gap));
        assert!(values.is_ascending(run));
        let first = values.input(0, 1);
        let (right, wrong) = (combine(&mut values, first, run), combine(&mut values, run, first));
        assert!(values.is_ascending(right));
        assert!(!values.is_ascending(wrong));
    }

    #[test]
    fn alike_means_the_same_operands_in_the_same_places() {
        let mut values = Values::new(3, 2);
        let [zero, one, two] = [0, 1, 2].map(|rank| values.input(rank, 1));
        let left = chain(&mut values, &[0, 1, 2]);
        let again = chain(&mut values, &[0, 1, 2]);
        let pair = combine(&mut values, one, zero);
        let exchanged = combine(&mut values, pair, two);
        let pair = combine(&mut values, one, two);
        let associated = combine(&mut values, zero, pair);
        assert!(values.are_alike(left, again));
        assert!(!values.are_alike(left, exchanged));
        assert!(!values.are_alike(left, associated));
    }

    #[test]
    fn alike_means_by_the_same_functions() {
        let mut values = Values::new(2, 1);
        let operands = [0, 1].map(|rank| values.input(rank, 0));
        let mut sum = |function| values.combine(operands[0], operands[1], function).unwrap();
        let (in_place, apart) = (sum(Function::TwoBuffers), sum(Function::ThreeBuffers));
        assert!(!values.are_alike(in_place, apart));
    }
}
