//! The bindings that bindgen makes from `wrapper.h`, which includes `shim.h`.

#![allow(non_camel_case_types, non_upper_case_globals, dead_code)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
