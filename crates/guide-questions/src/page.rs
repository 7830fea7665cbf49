//! The page's side of the WebAssembly module: bytes in, bytes out.
//!
//! The page asks for room, writes a question into it, asks for the answer and reads that from where it stands. Both stay until the
//! next question.

use std::cell::RefCell;

#[derive(Default)]
struct Conversation {
    question: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static CONVERSATION: RefCell<Conversation> = RefCell::default();
}

/// Where a question of so many bytes of UTF-8 may be written.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    CONVERSATION.with_borrow_mut(|conversation| {
        conversation.question = vec![0; length];
        conversation.question.as_mut_ptr()
    })
}

/// Answers the question that was written; returns where the answer stands, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    CONVERSATION.with_borrow_mut(|conversation| {
        let question = String::from_utf8_lossy(&conversation.question);
        conversation.answer = crate::answer(&question).into_bytes();
        conversation.answer.as_ptr()
    })
}

/// How many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    CONVERSATION.with_borrow(|conversation| conversation.answer.len())
}
