import { computed, type WritableComputedRef } from 'vue';

import { MOST_BYTES } from '../core/types/limits';
import { said, wholeNumber } from './problem-link';
import type { Link } from './use-link';

const BYTES = 1024;

/** The bytes that a link says. Fails if that is no number, or too large. */
export function bytesOfLink(text: string): number {
  return wholeNumber(text, 'bytes', 'bytes', 0, MOST_BYTES);
}

/** The bytes of the timeline and of GOAL, which the link says. */
export function useBytes(link: Link): WritableComputedRef<number> {
  return computed({
    get() {
      try {
        return bytesOfLink(said(link.query(), 'bytes') ?? String(BYTES));
      } catch {
        return BYTES;
      }
    },
    set: (bytes) => link.change({ bytes: bytes === BYTES ? undefined : String(bytes) }),
  });
}
