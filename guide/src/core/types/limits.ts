// `tests/types.rs` of guide-questions writes this file. Do not edit it.

export const FEWEST_RANKS = 2;
export const MOST_RANKS = 32;
export const MOST_SEGMENTS = 32;
export const MOST_BYTES = 4194304;
export const MOST_RANKS_PER_NODE = 1024;
export const MOST_SECONDS = 10;
export const LONGEST_SCHEDULES = 262144;
export const LONGEST_RULES = 1048576;
