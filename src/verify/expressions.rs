//! Expressions of the ranks' contributions, by which results of different runs can be compared.

use super::values::{Function, Value, Values};
use std::collections::HashMap;

/// An expression of ranks' contributions to one block, whatever the number of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A rank's contribution.
    Contribution(usize),
    /// A combination of two expressions, by its number in [`Expressions`].
    Combined(usize),
}

/// The expressions so far. Those of different runs are equal if their operands, the operands' sides and the
/// functions are.
#[derive(Default)]
pub struct Expressions(HashMap<(Expression, Expression, Function), usize>);

impl Expressions {
    /// Returns the expression of a run's value.
    pub(super) fn of(&mut self, values: &Values, value: Value) -> Expression {
        match values.parts(value) {
            Err(rank) => Expression::Contribution(rank),
            Ok((left, right, function)) => {
                let key = (self.of(values, left), self.of(values, right), function);
                let number = self.0.len();
                Expression::Combined(*self.0.entry(key).or_insert(number))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_runs_make_no_difference_but_places_and_functions_do() {
        let mut known = Expressions::default();
        let mut combine = |blocks, block, [left, right]: [usize; 2], function| {
            let mut values = Values::new(3, blocks);
            let (left, right) = (values.input(left, block), values.input(right, block));
            let value = values.combine(left, right, function).unwrap();
            known.of(&values, value)
        };
        let apart = combine(1, 0, [0, 2], Function::ThreeBuffers);
        let mut sum = |blocks, block, operands| combine(blocks, block, operands, Function::TwoBuffers);
        assert_ne!(sum(1, 0, [0, 2]), apart);
        assert_eq!(sum(1, 0, [0, 2]), sum(4, 3, [0, 2]));
        assert_ne!(sum(1, 0, [0, 2]), sum(1, 0, [2, 0]));
        assert_ne!(sum(1, 0, [0, 2]), sum(1, 0, [0, 1]));
    }
}
