//! Values of blocks: inputs, and reductions of them.
//!
//! The verifier's values prove that every contribution enters once and in order. These values are only shown,
//! and programs may be wrong. So an operand may occur in an expression any number of times, and a long
//! expression is shown as its number of operands.

use std::collections::HashMap;

/// Number of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueNumber(pub usize);

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A block of a rank's input.
    Input {
        rank: usize,
        /// Number of the block in the rank's buffer.
        block: usize,
    },
    /// `left ⊕ right`
    Reduced { left: ValueNumber, right: ValueNumber },
}

/// The values of a run; equal expressions are one value.
#[derive(Clone, Debug, Default)]
pub struct Values {
    values: Vec<Value>,
    known: Vec<Known>,
    numbers: HashMap<Value, ValueNumber>,
}

/// What is known of a value.
#[derive(Clone, Debug)]
struct Known {
    block: usize,
    contributors: Vec<usize>,
    operands: usize,
}

/// Expressions with more operands are not shown in full.
const MOST_OPERANDS_TOLD: usize = 64;

impl Values {
    /// Returns all values by their numbers.
    pub fn all(&self) -> &[Value] {
        &self.values
    }

    /// Returns the value of a block of a rank's input.
    pub fn input(&mut self, rank: usize, block: usize) -> ValueNumber {
        self.number(Value::Input { rank, block })
    }

    /// Returns `left ⊕ right`.
    pub fn combine(&mut self, left: ValueNumber, right: ValueNumber) -> ValueNumber {
        self.number(Value::Reduced { left, right })
    }

    /// Returns the block of the ranks' inputs that the value belongs to; of several, that of the first
    /// operand.
    pub fn block(&self, number: ValueNumber) -> usize {
        self.known[number.0].block
    }

    /// Returns the ranks that have contributed, from the leftmost operand to the rightmost, each once.
    pub fn contributors(&self, number: ValueNumber) -> &[usize] {
        &self.known[number.0].contributors
    }

    /// Returns the value in words: `block 2 of rank 3`, `block 1 of (0 ⊕ 1) ⊕ 2`.
    pub fn text(&self, number: ValueNumber) -> String {
        let Known { block, operands, .. } = self.known[number.0];
        match self.values[number.0] {
            Value::Input { rank, .. } => format!("block {block} of rank {rank}"),
            Value::Reduced { .. } if operands > MOST_OPERANDS_TOLD => {
                format!("block {block} of {operands} operands")
            }
            Value::Reduced { left, right } => {
                format!("block {block} of {} ⊕ {}", self.operand(left), self.operand(right))
            }
        }
    }

    fn operand(&self, number: ValueNumber) -> String {
        match self.values[number.0] {
            Value::Input { rank, .. } => rank.to_string(),
            Value::Reduced { left, right } => format!("({} ⊕ {})", self.operand(left), self.operand(right)),
        }
    }

    fn number(&mut self, value: Value) -> ValueNumber {
        let next = ValueNumber(self.values.len());
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.known.push(self.known_of(value));
            self.values.push(value);
        }
        number
    }

    fn known_of(&self, value: Value) -> Known {
        match value {
            Value::Input { rank, block } => Known { block, contributors: vec![rank], operands: 1 },
            Value::Reduced { left, right } => {
                let (left, right) = (&self.known[left.0], &self.known[right.0]);
                let mut contributors = left.contributors.clone();
                contributors
                    .extend(right.contributors.iter().filter(|rank| !left.contributors.contains(rank)));
                let operands = left.operands.saturating_add(right.operands);
                Known { block: left.block, contributors, operands }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_told_in_words_and_kept_once() {
        let mut values = Values::default();
        let [zero, one, two] = [0, 1, 2].map(|rank| values.input(rank, 4));
        let pair = values.combine(two, one);
        let all = values.combine(zero, pair);
        assert_eq!(values.text(two), "block 4 of rank 2");
        assert_eq!(values.text(all), "block 4 of 0 ⊕ (2 ⊕ 1)");
        assert_eq!(values.contributors(all), [0, 2, 1]);
        assert_eq!(values.combine(two, one), pair);
        assert_eq!(values.all().len(), 5);
    }

    #[test]
    fn what_is_reduced_with_itself_many_times_is_told_in_short() {
        let mut values = Values::default();
        let mut value = values.input(3, 0);
        for _ in 0..100 {
            value = values.combine(value, value);
        }
        assert_eq!(values.text(value), format!("block 0 of {} operands", usize::MAX));
        assert_eq!(values.contributors(value), [3]);
    }
}
