//! The names of collectives as arguments.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};
use measurements::Form;
use rustcoll::algorithms::Collective;
use std::ffi::OsStr;

/// Reads a collective's name. Its forms that do not block are refused with a reason.
pub fn collectives() -> impl TypedValueParser<Value = Collective> {
    Blocking(PossibleValuesParser::new(Collective::ALL.map(Collective::name)))
}

/// The names of blocking collectives.
#[derive(Clone)]
struct Blocking(PossibleValuesParser);

impl TypedValueParser for Blocking {
    type Value = Collective;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Collective, Error> {
        match value.to_str().map(Form::parse) {
            Some(Ok((collective, Form::Blocking))) => Ok(collective),
            Some(Ok((collective, _))) => refused(collective).parse_ref(command, argument, value),
            _ => Err(self.0.parse_ref(command, argument, value).expect_err("it is no name")),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

fn refused(collective: Collective) -> impl TypedValueParser<Value = Collective> {
    let reason = format!("only the blocking form is known here, `{}`", collective.name());
    move |_: &str| Err::<Collective, String>(reason.clone())
}
