//! Reads the numbers of a file, one after another, with the meaning of each.

use super::super::super::error::shortened;
use super::super::tuned_rule::Number;
use super::super::{Fault, words};
use super::VERSION;
use std::ops::Range;

/// A message size, and the algorithm and its options from this size on.
pub struct MessageSize {
    pub place: Range<usize>,
    pub size: Number,
    pub algorithm: Number,
    pub fan: Number,
    pub segment: Number,
    pub requests: Option<Number>,
}

/// A communicator size and its messages.
pub struct Communicator {
    pub size: Number,
    pub messages: Vec<MessageSize>,
}

/// A file that is being read.
pub struct Numbers<'reader> {
    text: &'reader str,
    tokens: Vec<Range<usize>>,
    next: usize,
    version: usize,
    faults: &'reader mut Vec<Fault>,
}

impl<'reader> Numbers<'reader> {
    /// Starts to read a text, and reads its version.
    pub fn of(text: &'reader str, faults: &'reader mut Vec<Fault>) -> Self {
        let tokens = words::lines(text).flatten().collect();
        let mut numbers = Numbers { text, tokens, next: 0, version: 1, faults };
        numbers.read_version();
        numbers
    }

    pub fn fault(&mut self, place: &Range<usize>, message: impl Into<String>) {
        self.faults.push(Fault { place: place.clone(), message: message.into() });
    }

    fn read_version(&mut self) {
        let Some(place) = self.tokens.first().cloned() else { return };
        let Some(version) = self.text[place.clone()].strip_prefix(VERSION) else { return };
        self.next = 1;
        match version.parse() {
            Ok(version) if version > 0 => self.version = version,
            _ => self.fault(&place, format!("`{}` is not a version", shortened(version))),
        }
        if place.start > 0 {
            self.fault(&place, "Open MPI finds the version only at the very beginning of the file");
        }
    }

    /// Returns the next number. Other words are reported and skipped.
    pub fn number(&mut self, what: &str) -> Option<Number> {
        while let Some(place) = self.tokens.get(self.next).cloned() {
            self.next += 1;
            match number(&self.text[place.clone()]) {
                Ok(value) => return Some(Number { value, place }),
                Err((value, message)) => {
                    self.fault(&place, message);
                    if let Some(value) = value {
                        return Some(Number { value, place });
                    }
                }
            }
        }
        let end = self.text.len();
        let message = format!(
            "expected {what}, found the end: because of it Open MPI ignores the whole file without a word"
        );
        self.fault(&(end..end), message);
        None
    }

    /// Reads the communicators of a collective and, before them, their count. Reports a fault and returns
    /// `None` if the file ends too early.
    pub fn communicators(&mut self) -> Option<Vec<Communicator>> {
        let count = self.number("the number of communicator sizes")?;
        let mut communicators: Vec<Communicator> = Vec::new();
        for _ in 0..count.value {
            let size = self.number("a communicator size")?;
            if let Some(before) = communicators.last().filter(|before| before.size.value >= size.value) {
                let message = format!(
                    "communicator sizes must ascend: {} comes after {}",
                    size.value, before.size.value
                );
                self.fault(&size.place, message);
            }
            let messages = self.messages()?;
            communicators.push(Communicator { size, messages });
        }
        Some(communicators)
    }

    fn messages(&mut self) -> Option<Vec<MessageSize>> {
        let count = self.number("the number of message sizes")?;
        let mut messages: Vec<MessageSize> = Vec::new();
        for _ in 0..count.value {
            let message = self.message()?;
            let (size, place) = (message.size.value, message.size.place.clone());
            match messages.last() {
                None if size > 0 => {
                    let message = format!(
                        "the first message size is {size}, not 0: because of it Open MPI ignores the whole file without a word"
                    );
                    self.fault(&place, message);
                }
                Some(before) if before.size.value >= size => {
                    let message =
                        format!("message sizes must ascend: {size} comes after {}", before.size.value);
                    self.fault(&place, message);
                }
                _ => {}
            }
            messages.push(message);
        }
        Some(messages)
    }

    fn message(&mut self) -> Option<MessageSize> {
        let size = self.number("a message size")?;
        let algorithm = self.number("an algorithm")?;
        let fan = self.number("a fan-out")?;
        let segment = self.number("a segment size")?;
        let requests = if self.is_another_in_line(&segment.place) { self.fifth(&size)? } else { None };
        let end = requests.as_ref().unwrap_or(&segment).place.end;
        Some(MessageSize { place: size.place.start..end, size, algorithm, fan, segment, requests })
    }

    /// Whether the next token is in the same line as the end of this place.
    fn is_another_in_line(&self, place: &Range<usize>) -> bool {
        let next = self.tokens.get(self.next);
        next.is_some_and(|next| !self.text[place.end..next.start].contains('\n'))
    }

    /// Reads the number of requests, if the file's version has one. The outer `None` means that the file ends
    /// too early.
    fn fifth(&mut self, first: &Number) -> Option<Option<Number>> {
        if self.version > 1 {
            return self.number("a number of requests").map(Some);
        }
        // Several rules may share a line, but exactly five numbers in a line are a mistake.
        let place = self.tokens[self.next].clone();
        let position = self.tokens.partition_point(|token| token.start < first.place.start);
        let before = position.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        let is_first = position + 4 == self.next && self.text[before..first.place.start].contains('\n');
        self.next += 1;
        if is_first && !self.is_another_in_line(&place) {
            self.fault(
                &place,
                format!("Open MPI reads a fifth number only if the file begins with `{VERSION}2`"),
            );
        } else {
            self.next -= 1;
        }
        Some(None)
    }

    /// Reports anything left at the end of the file.
    pub fn end(&mut self, collectives: usize) {
        if let Some(place) = self.tokens.get(self.next).cloned() {
            let message = format!(
                "Open MPI does not read what follows: by its first number the file ends here, after {} collectives",
                collectives
            );
            self.fault(&(place.start..self.text.trim_end().len()), message);
        }
    }
}

/// Reads a number as the C library does. Fails with the fault and, if it can be guessed, the intended number.
fn number(text: &str) -> Result<usize, (Option<usize>, String)> {
    let shown = shortened(text);
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let value = match digits {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            i64::from_str_radix(digits, 16)
        }
        _ if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) => text.parse(),
        _ if text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|digit| digit.is_ascii_digit())) => {
            return Err((Some(0), format!("`{shown}` is negative")));
        }
        _ => {
            let message =
                format!("`{shown}` is not a number; Open MPI skips it without a word and takes the next one");
            return Err((None, message));
        }
    };
    match value {
        Err(_) => Err((Some(0), format!("`{shown}` is too large"))),
        Ok(value) if digits.is_none() && text.len() > 1 && text.starts_with('0') => {
            let message =
                format!("Open MPI takes `{shown}` for octal, because of the leading zero; leave it out");
            Err((Some(value as usize), message))
        }
        Ok(value) => Ok(value as usize),
    }
}
