import { computed, type WritableComputedRef } from 'vue';

import { said } from './problem-link';
import type { Link } from './use-link';

const BYTES = 1024;

/** The bytes that a link says, if it says a number. */
export function bytesOfLink(text: string): number | null {
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/** The bytes of the timeline and of GOAL, which the link says. */
export function useBytes(link: Link): WritableComputedRef<number> {
  return computed({
    get: () => bytesOfLink(said(link.query(), 'bytes') ?? '') ?? BYTES,
    set: (bytes) => link.change({ bytes: bytes === BYTES ? undefined : String(bytes) }),
  });
}
