//! Envelopes: groups of messages that travel as one message.

use crate::order::{Act, Order};
use std::collections::HashMap;

/// The grouping of an order's messages into envelopes.
pub struct Envelopes {
    /// The envelope of each message.
    pub of: Vec<usize>,
    /// The messages of each envelope.
    pub messages: Vec<Vec<usize>>,
    /// The envelopes from one rank to another, in the order of sending.
    pub between: HashMap<[usize; 2], Vec<usize>>,
}

impl Envelopes {
    /// With `few_messages`, messages between the same two ranks share an envelope if three things hold: one round sends
    /// them, one round awaits them, and neither rank computes between them. Otherwise each message travels alone.
    pub fn of(order: &Order, few_messages: bool) -> Envelopes {
        // For each message, the copies and reductions before its sender sends it and before its receiver awaits it.
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
