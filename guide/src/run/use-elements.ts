import { computed, type ComputedRef } from 'vue';

import { GuideError } from '../core/client';
import { said, wholeNumber } from './problem-link';
import type { Link } from './use-link';

export const ELEMENT_COUNTS = [1, 2, 3, 4];

/** The elements of a block, which the link says. */
export function useElements(link: Link): {
  elements: ComputedRef<number>;
  fault: ComputedRef<GuideError | null>;
} {
  const read = computed(() => {
    try {
      const text = said(link.query(), 'n') ?? '1';
      return { elements: wholeNumber(text, 'n', 'elements', 1, ELEMENT_COUNTS.length), fault: null };
    } catch (reason) {
      return { elements: 1, fault: reason as GuideError };
    }
  });
  return { elements: computed(() => read.value.elements), fault: computed(() => read.value.fault) };
}
