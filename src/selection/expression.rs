//! Conditions in closed form, such as `delta_expo_max < log2(bytes)/2 - 2.5`.
//!
//! ```text
//! either     = both { "or" both }
//! both       = negation { "and" negation }
//! negation   = "not" negation | comparison
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | number [unit] | name | function "(" either { "," either } ")" | "(" either ")"
//! ```
//!
//! Numbers are 64-bit floating-point numbers, also those that are none: a logarithm of -1 is neither less nor greater
//! than anything. A condition on something that is not known is not met.

use super::Call;
use super::condition::Quantity;
use super::nearest::unknown;
use super::quantity::unit;
use crate::algorithms::delta_expo_max;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

/// Longer expressions are refused; nesting is bounded by it.
const MOST_CHARACTERS: usize = 512;

/// An expression that is true of a call, or false.
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
    DeltaExpoMax,
}

/// By name, what expressions may look at.
const VARIABLES: [(&str, Variable); 5] = [
    ("ranks", Variable::Quantity(Quantity::Ranks)),
    ("bytes", Variable::Quantity(Quantity::Bytes)),
    ("nodes", Variable::Quantity(Quantity::Nodes)),
    ("ranks_per_node", Variable::Quantity(Quantity::RanksPerNode)),
    ("delta_expo_max", Variable::DeltaExpoMax),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Log2,
    Sqrt,
    Min,
    Max,
}

/// By name, with the number of arguments.
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

const DISJUNCTION: &[(&str, Operator)] = &[("or", Operator::Or)];
const CONJUNCTION: &[(&str, Operator)] = &[("and", Operator::And)];
const COMPARISONS: &[(&str, Operator)] = &[
    ("<", Operator::Less),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
];
const SUMS: &[(&str, Operator)] = &[("+", Operator::Add), ("-", Operator::Subtract)];
const PRODUCTS: &[(&str, Operator)] = &[("*", Operator::Multiply), ("/", Operator::Divide)];

/// What is wrong with an expression, and where in it.
pub type Misread = (Range<usize>, String);

impl Expression {
    /// Reads an expression that is true or false.
    pub fn read(text: &str) -> Result<Expression, Misread> {
        if text.len() > MOST_CHARACTERS {
            return Err((0..text.len(), format!("an expression has at most {MOST_CHARACTERS} characters")));
        }
        let mut parser = Parser { text, token: 0..0, end: 0 };
        parser.advance();
        let root = parser.either()?;
        if !parser.token().is_empty() {
            return parser.expected("an operator or the end");
        }
        if !root.is_truth() {
            return Err((0..text.len(), "the expression is a number; compare it with something".into()));
        }
        Ok(Expression { text: text.to_owned(), root })
    }

    /// Whether it is true of a call; None if it looks at something that is not known.
    pub fn is_true(&self, call: &Call) -> Option<bool> {
        self.root.value(call).map(|value| value != 0.0)
    }

    /// For each comparison, whether the left side is the smaller one and whether it is the larger one, so far as known.
    pub fn comparisons(&self, call: &Call) -> Vec<bool> {
        let mut found = Vec::new();
        self.root.compare(call, &mut found);
        found
    }

    /// The quantities of calls that it depends on.
    pub fn quantities(&self) -> impl Iterator<Item = Quantity> {
        self.variables().into_iter().map(|(_, variable)| match variable {
            Variable::Quantity(quantity) => quantity,
            Variable::DeltaExpoMax => Quantity::Ranks,
        })
    }

    /// The variables that it looks at with a call's values; None if one is not known.
    pub fn values(&self, call: &Call) -> Option<String> {
        let value = |(name, variable): (&str, Variable)| Some(format!("{name} = {}", variable.of(call)?));
        let values: Option<Vec<_>> = self.variables().into_iter().map(value).collect();
        values.map(|values| values.join(", "))
    }

    /// In the order of their table, each once.
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
            Variable::DeltaExpoMax => Some(f64::from(delta_expo_max(call.size))),
        }
    }
}

impl Node {
    /// Whether it is true or false, and no number.
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

    /// 1 if true, 0 if false; None if something is not known.
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
                    Function::Log2 => first.log2(),
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

/// A recursive-descent parser, one token ahead.
struct Parser<'text> {
    text: &'text str,
    /// The next token; empty at the end.
    token: Range<usize>,
    /// Where the token before it ends.
    end: usize,
}

type Part<'text> = fn(&mut Parser<'text>) -> Result<Node, Misread>;

impl<'text> Parser<'text> {
    fn token(&self) -> &'text str {
        &self.text[self.token.clone()]
    }

    /// Reads the next token: a number, a name, a comparison or a single character.
    fn advance(&mut self) {
        self.end = self.token.end;
        let rest = self.text[self.end..].trim_start();
        let start = self.text.len() - rest.len();
        let is_word = |character: char| character.is_alphanumeric() || "._".contains(character);
        let end_of = |is_in: &dyn Fn(char) -> bool| rest.find(|character| !is_in(character));
        let length = match rest.chars().next() {
            None => 0,
            // The unit of a number is a token of its own.
            Some(digit) if digit.is_ascii_digit() => {
                end_of(&|character| character.is_ascii_digit() || character == '.').unwrap_or(rest.len())
            }
            Some(letter) if is_word(letter) => end_of(&is_word).unwrap_or(rest.len()),
            Some(sign) if "<>=!".contains(sign) && rest[1..].starts_with('=') => 2,
            Some(other) => other.len_utf8(),
        };
        self.token = start..start + length;
    }

    fn expected<T>(&self, what: &str) -> Result<T, Misread> {
        let found = if self.token.is_empty() { "the end".to_owned() } else { format!("`{}`", self.token()) };
        Err((self.token.clone(), format!("expected {what}, found {found}")))
    }

    fn take(&mut self, token: &str) -> Result<(), Misread> {
        if self.token() != token {
            return self.expected(&format!("`{token}`"));
        }
        self.advance();
        Ok(())
    }

    /// One of some operators, if it is the next token.
    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let (_, operator) = operators.iter().find(|(sign, _)| *sign == self.token())?;
        self.advance();
        Some(*operator)
    }

    /// Operands of one kind, of which the first stands at a place.
    fn operand(&mut self, part: Part<'text>, wants_truth: bool) -> Result<Node, Misread> {
        let start = self.token.start;
        let node = part(self)?;
        require(&node, start..self.end, wants_truth)?;
        Ok(node)
    }

    /// Parts joined by operators, from left to right.
    fn chain(&mut self, operators: &[(&str, Operator)], part: Part<'text>) -> Result<Node, Misread> {
        let start = self.token.start;
        let mut left = part(self)?;
        let mut place = start..self.end;
        while let Some(operator) = self.operator(operators) {
            require(&left, place, operator.takes_truths())?;
            let right = self.operand(part, operator.takes_truths())?;
            left = Node::Binary(operator, Box::new([left, right]));
            place = start..self.end;
        }
        Ok(left)
    }

    fn either(&mut self) -> Result<Node, Misread> {
        self.chain(DISJUNCTION, Self::both)
    }

    fn both(&mut self) -> Result<Node, Misread> {
        self.chain(CONJUNCTION, Self::negation)
    }

    fn negation(&mut self) -> Result<Node, Misread> {
        if self.token() != "not" {
            return self.chain(COMPARISONS, Self::sum);
        }
        self.advance();
        Ok(Node::Not(Box::new(self.operand(Self::negation, true)?)))
    }

    fn sum(&mut self) -> Result<Node, Misread> {
        self.chain(SUMS, Self::product)
    }

    fn product(&mut self) -> Result<Node, Misread> {
        self.chain(PRODUCTS, Self::factor)
    }

    fn factor(&mut self) -> Result<Node, Misread> {
        let token = self.token();
        match token.chars().next() {
            Some('-') => {
                self.advance();
                let operand = self.operand(Self::factor, false)?;
                Ok(Node::Binary(Operator::Subtract, Box::new([Node::Number(0.0), operand])))
            }
            Some('(') => {
                self.advance();
                let inner = self.either()?;
                self.take(")").map(|()| inner)
            }
            Some(digit) if digit.is_ascii_digit() => self.number(),
            Some(letter) if letter.is_alphabetic() => self.named(),
            _ => self.expected("a number, a name or `(`"),
        }
    }

    fn number(&mut self) -> Result<Node, Misread> {
        let Ok(number) = self.token().parse::<f64>() else {
            return self.expected("a number");
        };
        self.advance();
        // A unit follows at once; what comes after a space is something else.
        let is_unit = self.token.start == self.end && self.token().starts_with(char::is_alphabetic);
        if !is_unit {
            return Ok(Node::Number(number));
        }
        let unit = unit(self.token()).map_err(|message| (self.token.clone(), message))?;
        self.advance();
        Ok(Node::Number(number * unit as f64))
    }

    fn named(&mut self) -> Result<Node, Misread> {
        let (name, place) = (self.token(), self.token.clone());
        if let Some((_, variable)) = VARIABLES.into_iter().find(|(known, _)| *known == name) {
            self.advance();
            return Ok(Node::Variable(variable));
        }
        let Some((_, function, arguments)) = FUNCTIONS.into_iter().find(|(known, ..)| *known == name) else {
            return Err((place, unknown("name", name, names())));
        };
        self.advance();
        self.take("(")?;
        let mut operands = vec![self.operand(Self::either, false)?];
        while operands.len() < arguments {
            self.take(",")?;
            operands.push(self.operand(Self::either, false)?);
        }
        self.take(")")?;
        Ok(Node::Function(function, operands))
    }
}

fn require(node: &Node, place: Range<usize>, wants_truth: bool) -> Result<(), Misread> {
    let wanted = if wants_truth { "a comparison, not a number" } else { "a number, not a comparison" };
    if node.is_truth() == wants_truth { Ok(()) } else { Err((place, format!("expected {wanted}"))) }
}

/// Every name that an expression may hold.
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
