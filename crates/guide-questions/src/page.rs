//! The page's side of the WebAssembly module: bytes in, bytes out.
//!
//! The page calls [`room`], writes a question there, calls [`answer`] and reads the answer at the address that
//! [`answer`] returns. Both buffers stay valid until the next question.

use std::cell::RefCell;

#[derive(Default)]
struct Conversation {
    question: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static CONVERSATION: RefCell<Conversation> = RefCell::default();
}

/// Returns the address at which the page may write a question of `length` bytes of UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    CONVERSATION.with_borrow_mut(|conversation| {
        conversation.question = vec![0; length];
        conversation.question.as_mut_ptr()
    })
}

/// Answers the question in the buffer. Returns the address of the answer, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    CONVERSATION.with_borrow_mut(|conversation| {
        let question = String::from_utf8_lossy(&conversation.question);
        conversation.answer = crate::answer(&question).into_bytes();
        conversation.answer.as_ptr()
    })
}

/// Returns the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    CONVERSATION.with_borrow(|conversation| conversation.answer.len())
}
