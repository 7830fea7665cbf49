//! Which messages become one.

use crate::order::{Act, Order};
use std::collections::HashMap;

/// Which messages of an order travel together.
pub struct Envelopes {
    /// By message: its envelope.
    pub of: Vec<usize>,
    /// By envelope: its messages.
    pub messages: Vec<Vec<usize>>,
    /// From one rank to another: the envelopes in the order in which they are sent.
    pub between: HashMap<[usize; 2], Vec<usize>>,
}

impl Envelopes {
    /// With `few_messages`, messages of one rank to another are together if they are sent in one round and awaited in one round, and neither rank
    /// computes anything between them.
    pub fn of(order: &Order, few_messages: bool) -> Envelopes {
        // How much a rank has computed before it sends or awaits a message.
        let mut computed = vec![[0; 2]; order.messages.len()];
        for acts in &order.acts {
            let mut count = 0;
            for &(act, _) in acts {
                match act {
                    Act::Send(message) => computed[message][0] = count,
                    Act::Await(message) => computed[message][1] = count,
                    Act::Take(_) => {}
                    Act::Copy { .. } | Act::Reduce { .. } => count += 1,
                }
            }
        }
        let mut envelopes =
            Envelopes { of: vec![0; order.messages.len()], messages: Vec::new(), between: HashMap::new() };
        let mut known = HashMap::new();
        for &(act, _) in order.acts.iter().flatten() {
            let Act::Send(number) = act else { continue };
            let message = &order.messages[number];
            let pair = [message.sender, message.receiver];
            let alone = if few_messages { None } else { Some(number) };
            let envelope =
                *known.entry((pair, message.rounds, computed[number], alone)).or_insert_with(|| {
                    envelopes.messages.push(Vec::new());
                    envelopes.between.entry(pair).or_default().push(envelopes.messages.len() - 1);
                    envelopes.messages.len() - 1
                });
            envelopes.messages[envelope].push(number);
            envelopes.of[number] = envelope;
        }
        envelopes
    }
}
