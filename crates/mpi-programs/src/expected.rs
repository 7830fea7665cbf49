//! What the buffers hold before and after a collective, computed without communication.

use crate::image::Image;
use crate::operator::Arithmetic;
use crate::random::{combine, nth};

/// The random numbers that go from one rank to another in the call with this seed.
fn stream(seed: u64, from: usize, to: usize) -> impl Fn(usize) -> u64 {
    let seed = combine(&[seed, from as u64, to as u64]);
    move |position| nth(seed, position as u64)
}

/// Fills a buffer with a rank's operands of a reduction.
pub fn write_operands(image: &mut Image, arithmetic: Arithmetic, seed: u64, rank: usize) {
    let random = stream(seed, rank, 0);
    for position in 0..image.values() {
        image.set(position, arithmetic.operand(random(position), position % image.width()));
    }
}

/// Fills a buffer with the operands of all ranks, combined in their order.
pub fn write_reduction(image: &mut Image, arithmetic: Arithmetic, seed: u64, size: usize) {
    let streams: Vec<_> = (0..size).map(|rank| stream(seed, rank, 0)).collect();
    let mut operand = vec![0; image.width()];
    let mut total = operand.clone();
    for element in 0..image.count() {
        let first = element * image.width();
        for (rank, random) in streams.iter().enumerate() {
            for (value, operand) in operand.iter_mut().enumerate() {
                *operand = arithmetic.operand(random(first + value), value);
            }
            match rank {
                0 => total.copy_from_slice(&operand),
                _ => arithmetic.fold(&mut total, &operand),
            }
        }
        for (value, &total) in total.iter().enumerate() {
            image.set(first + value, total);
        }
    }
}

/// Fills a buffer of one block per rank with what a rank sends to each in an all-to-all.
pub fn write_outgoing_blocks(image: &mut Image, seed: u64, rank: usize, size: usize) {
    write_blocks(image, size, |peer| stream(seed, rank, peer));
}

/// Fills a buffer of one block per rank with what a rank receives from each in an all-to-all.
pub fn write_incoming_blocks(image: &mut Image, seed: u64, rank: usize, size: usize) {
    write_blocks(image, size, |peer| stream(seed, peer, rank));
}

fn write_blocks<R: Fn(usize) -> u64>(image: &mut Image, size: usize, stream_with: impl Fn(usize) -> R) {
    let block = image.values() / size;
    for peer in 0..size {
        let random = stream_with(peer);
        for position in 0..block {
            image.set(peer * block + position, any_int(random(position)));
        }
    }
}

/// Fills a buffer with the root's message.
pub fn write_message(image: &mut Image, seed: u64, root: usize) {
    let random = stream(seed, root, root);
    for position in 0..image.values() {
        image.set(position, any_int(random(position)));
    }
}

fn any_int(random: u64) -> i64 {
    (random as i32).into()
}

/// The first value of a large buffer that is not the sum of all ranks' operands, in words.
pub fn wrong_sum(image: &Image, seed: u64, size: usize) -> Option<String> {
    let streams: Vec<_> = (0..size).map(|rank| stream(seed, rank, 0)).collect();
    let operand = |random, position| Arithmetic::Sum.operand(random, position % image.width());
    image.first_other(|position| streams.iter().map(|random| operand(random(position), position)).sum())
}

/// The first value of a large buffer that is not the root's, in words.
pub fn wrong_message(image: &Image, seed: u64, root: usize) -> Option<String> {
    let random = stream(seed, root, root);
    image.first_other(|position| any_int(random(position)))
}
