//! Conditions in closed form, such as `delta_expo_max < log2(bytes)/2 - 2.5`; `parser.rs` has the grammar.
//!
//! Numbers are 64-bit floating-point numbers and may be NaN: the logarithm of -1 is neither less nor greater
//! than any number. A condition on something unknown is not met. Every processor computes the same bits, because ranks of a
//! job may run on different ones.

mod logarithm;
mod parser;

use super::Call;
use super::condition::Quantity;
use crate::algorithms::delta_expo_max;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

/// The most bytes of an expression. This limit also bounds the nesting.
const MOST_CHARACTERS: usize = 512;

/// An expression that is true or false for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Variable(Variable),
    Function(Function, Vec<Node>),
    Binary(Operator, Box<[Node; 2]>),
    Not(Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variable {
    Quantity(Quantity),
    /// Bytes of the longest block.
    Longest,
    DeltaExpoMax,
}

/// The variables of expressions, by name.
const VARIABLES: [(&str, Variable); 8] = [
    ("ranks", Variable::Quantity(Quantity::Ranks)),
    ("bytes", Variable::Quantity(Quantity::Bytes)),
    ("nodes", Variable::Quantity(Quantity::Nodes)),
    ("ranks_per_node", Variable::Quantity(Quantity::RanksPerNode)),
    ("neighbours", Variable::Quantity(Quantity::Neighbours)),
    ("dimensions", Variable::Quantity(Quantity::Dimensions)),
    (Expression::LONGEST, Variable::Longest),
    ("delta_expo_max", Variable::DeltaExpoMax),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Log2,
    Sqrt,
    Min,
    Max,
}

/// The functions by name, with their number of arguments.
const FUNCTIONS: [(&str, Function, usize); 4] = [
    ("log2", Function::Log2, 1),
    ("sqrt", Function::Sqrt, 1),
    ("min", Function::Min, 2),
    ("max", Function::Max, 2),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// The place and the description of a fault in an expression.
pub type Misread = (Range<usize>, String);

impl Expression {
    /// The name of the longest block's bytes.
    pub const LONGEST: &'static str = "longest";

    /// Reads an expression. Fails if its value would be a number.
    pub fn read(text: &str) -> Result<Expression, Misread> {
        if text.len() > MOST_CHARACTERS {
            return Err((0..text.len(), format!("an expression has at most {MOST_CHARACTERS} characters")));
        }
        let root = parser::parse(text)?;
        if !root.is_truth() {
            return Err((0..text.len(), "the expression is a number; compare it with something".into()));
        }
        Ok(Expression { text: text.to_owned(), root })
    }

    /// Whether the expression is true for a call; `None` if it depends on something unknown.
    pub fn is_true(&self, call: &Call) -> Option<bool> {
        self.root.value(call).map(|value| value != 0.0)
    }

    /// Returns two results for each comparison: whether the left side is less, and whether it is greater.
    /// Both are false if a side is unknown or NaN.
    pub fn comparisons(&self, call: &Call) -> Vec<bool> {
        let mut found = Vec::new();
        self.root.compare(call, &mut found);
        found
    }

    /// Returns the quantities that the expression depends on.
    pub fn quantities(&self) -> impl Iterator<Item = Quantity> {
        self.variables().into_iter().map(|(_, variable)| match variable {
            Variable::Quantity(quantity) => quantity,
            Variable::Longest => Quantity::Bytes,
            Variable::DeltaExpoMax => Quantity::Ranks,
        })
    }

    /// Returns the names that the expression has for properties of a call.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.variables().into_iter().map(|(name, _)| name)
    }

    /// Writes the expression's variables with a call's values; `None` if one is not known.
    pub fn values(&self, call: &Call) -> Option<String> {
        let value = |(name, variable): (&str, Variable)| Some(format!("{name} = {}", variable.of(call)?));
        let values: Option<Vec<_>> = self.variables().into_iter().map(value).collect();
        values.map(|values| values.join(", "))
    }

    /// Returns the expression's variables in the order of [`VARIABLES`], each once.
    fn variables(&self) -> Vec<(&'static str, Variable)> {
        VARIABLES.into_iter().filter(|(_, variable)| self.root.looks_at(*variable)).collect()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Variable {
    fn of(self, call: &Call) -> Option<f64> {
        match self {
            Variable::Quantity(quantity) => quantity.of(call).map(|number| number as f64),
            Variable::Longest => call.longest_block(),
            Variable::DeltaExpoMax => Some(f64::from(delta_expo_max(call.size))),
        }
    }
}

impl Node {
    /// Whether the value is true or false, not a number.
    fn is_truth(&self) -> bool {
        match self {
            Node::Not(_) => true,
            Node::Binary(operator, _) => operator.yields_truth(),
            Node::Number(_) | Node::Variable(_) | Node::Function(..) => false,
        }
    }

    fn looks_at(&self, variable: Variable) -> bool {
        match self {
            Node::Number(_) => false,
            Node::Variable(other) => *other == variable,
            Node::Function(_, operands) => operands.iter().any(|operand| operand.looks_at(variable)),
            Node::Binary(_, operands) => operands.iter().any(|operand| operand.looks_at(variable)),
            Node::Not(operand) => operand.looks_at(variable),
        }
    }

    fn compare(&self, call: &Call, found: &mut Vec<bool>) {
        match self {
            Node::Binary(operator, operands) if operator.compares() => {
                let [left, right] = operands.each_ref().map(|operand| operand.value(call));
                let order = left.zip(right).and_then(|(left, right)| left.partial_cmp(&right));
                found.extend([Ordering::Less, Ordering::Greater].map(|wanted| order == Some(wanted)));
            }
            Node::Binary(_, operands) => operands.iter().for_each(|operand| operand.compare(call, found)),
            Node::Not(operand) => operand.compare(call, found),
            Node::Number(_) | Node::Variable(_) | Node::Function(..) => {}
        }
    }

    /// Returns the value for a call, with 1 for true and 0 for false; `None` if something is not known.
    fn value(&self, call: &Call) -> Option<f64> {
        match self {
            Node::Number(number) => Some(*number),
            Node::Variable(variable) => variable.of(call),
            Node::Not(operand) => operand.value(call).map(|value| 1.0 - value),
            Node::Binary(operator, operands) => {
                Some(operator.apply(operands[0].value(call)?, operands[1].value(call)?))
            }
            Node::Function(function, operands) => {
                let first = operands[0].value(call)?;
                Some(match function {
                    Function::Log2 => logarithm::log2(first),
                    Function::Sqrt => first.sqrt(),
                    Function::Min => first.min(operands[1].value(call)?),
                    Function::Max => first.max(operands[1].value(call)?),
                })
            }
        }
    }
}

impl Operator {
    fn takes_truths(self) -> bool {
        matches!(self, Operator::Or | Operator::And)
    }

    fn yields_truth(self) -> bool {
        self.takes_truths() || self.compares()
    }

    fn compares(self) -> bool {
        !self.takes_truths()
            && !matches!(self, Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide)
    }

    fn apply(self, left: f64, right: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Operator::Or => left.max(right),
            Operator::And => left.min(right),
            Operator::Less => truth(left < right),
            Operator::LessOrEqual => truth(left <= right),
            Operator::Greater => truth(left > right),
            Operator::GreaterOrEqual => truth(left >= right),
            Operator::Equal => truth(left == right),
            Operator::Unequal => truth(left != right),
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
        }
    }
}

/// Returns all names of variables and functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    VARIABLES.into_iter().map(|(name, _)| name).chain(FUNCTIONS.into_iter().map(|(name, ..)| name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective;

    fn is_true(text: &str) -> Option<bool> {
        let call = Call { nodes: Some(3), ..Call::new(Collective::Allreduce, 13, 64 << 10) };
        Expression::read(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}")).is_true(&call)
    }

    #[test]
    fn expressions_have_the_usual_precedence() {
        for (text, expected) in [
            ("delta_expo_max < log2(bytes)/2 - 2.5", true),
            ("delta_expo_max == 2", true),
            ("1 + 2 * 3 == 7 and 10 - 2 - 3 == 5 and 8 / 2 / 2 == 2", true),
            ("(1 + 2) * 3 == 9", true),
            ("-ranks + 13 == 0 and 2 - -1 == 3", true),
            ("not ranks < 13 and ranks <= 13", true),
            ("not (ranks < 13 or ranks > 13)", true),
            ("1 > 2 and 1 > 2 or 2 > 1", true),
            ("1 > 2 and (1 > 2 or 2 > 1)", false),
            ("bytes == 64KiB and bytes == 64K and bytes != 64B", true),
            ("sqrt(16) == min(4, 5) and max(nodes, 4) == 4", true),
            ("log2(0 - 1) < 0 or log2(0 - 1) >= 0", false),
        ] {
            assert_eq!(is_true(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_neither_true_nor_false() {
        assert_eq!(is_true("ranks_per_node > 1 or ranks == 13"), None);
        assert_eq!(is_true("not ranks_per_node > 1"), None);
    }

    #[test]
    fn faults_have_places() {
        for (text, place, message) in [
            ("", 0..0, "expected a number, a name or `(`, found the end"),
            ("ranks", 0..5, "the expression is a number; compare it with something"),
            ("rank < 2", 0..4, "unknown name `rank`; the nearest known one is `ranks`"),
            ("2 < lg2(bytes)", 4..7, "unknown name `lg2`; the nearest known one is `log2`"),
            ("ranks < ", 8..8, "expected a number, a name or `(`, found the end"),
            ("ranks = 3", 6..7, "expected an operator or the end, found `=`"),
            ("ranks < 3 4", 10..11, "expected an operator or the end, found `4`"),
            ("bytes < 3KB", 9..11, "unknown unit `KB`; the units are B, KiB, MiB and GiB, or K, M and G"),
            ("1.2.3 < 4", 0..5, "expected a number, found `1.2.3`"),
            ("min(1) < 2", 5..6, "expected `,`, found `)`"),
            ("log2 < 2", 5..6, "expected `(`, found `<`"),
            ("(ranks < 2", 10..10, "expected `)`, found the end"),
            ("ranks and 2 < 3", 0..5, "expected a comparison, not a number"),
            ("1 < 2 < 3", 0..5, "expected a number, not a comparison"),
            ("2 * (1 < 2) > 3", 4..11, "expected a number, not a comparison"),
            ("not ranks", 4..9, "expected a comparison, not a number"),
            ("é < 2", 0..2, ""),
        ] {
            match Expression::read(text) {
                Ok(read) => panic!("{text} is read as {read:?}"),
                Err((found, said)) => {
                    assert_eq!(found, place, "{text}: {said}");
                    if !text.starts_with('é') {
                        assert_eq!(said, message, "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn nesting_is_bounded() {
        for text in
            ["(".repeat(MOST_CHARACTERS), "-".repeat(MOST_CHARACTERS), "not ".repeat(MOST_CHARACTERS / 4)]
        {
            assert!(Expression::read(&text).is_err());
        }
        let sum = format!("{}1 > 0", "1+".repeat(250));
        assert_eq!(is_true(&sum), Some(true));
        let (place, message) = Expression::read(&" ".repeat(MOST_CHARACTERS + 1)).unwrap_err();
        assert_eq!(
            (place, &message[..]),
            (0..MOST_CHARACTERS + 1, "an expression has at most 512 characters")
        );
    }
}
