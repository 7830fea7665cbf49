import { ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue';

import { GuideError } from '../core/client';
import { messageOf } from '../core/message';

export interface Answered<T> {
  /** The latest good answer; it stays while the next one is under way, or if there is none. */
  answer: ShallowRef<T | null>;
  /** Why the latest question has no answer. */
  fault: ShallowRef<GuideError | null>;
  /** Whether the answer to the latest question is still to come. */
  isUnderWay: Ref<boolean>;
}

function faultOf(reason: unknown): GuideError {
  if (reason instanceof GuideError) return reason;
  return new GuideError(messageOf(reason));
}

/**
 * Asks again whenever the question changes, and keeps what came last. `question` may throw a GuideError, or be null where there
 * is nothing to ask. What was answered under another `about` is forgotten. One question is under way at a time; of those that come
 * meanwhile only the latest is asked, so that a slider which moves does not leave a queue behind.
 */
export function useAnswer<Q, T>(
  question: () => Q | null,
  ask: (question: Q) => Promise<T>,
  about: () => string = () => '',
): Answered<T> {
  const answer: ShallowRef<T | null> = shallowRef(null);
  const fault = shallowRef<GuideError | null>(null);
  let wanted: { question: Q } | null = null;
  const isUnderWay = ref(false);

  const text = () => {
    try {
      return JSON.stringify({ question: question() });
    } catch (reason) {
      return { reason: faultOf(reason) };
    }
  };

  function tell(got: T | null, reason: GuideError | null): void {
    answer.value = got;
    fault.value = reason;
  }

  async function pursue(): Promise<void> {
    if (isUnderWay.value) return;
    isUnderWay.value = true;
    for (let asked = wanted; asked; asked = wanted === asked ? null : wanted) {
      try {
        const got = await ask(asked.question);
        if (asked === wanted) tell(got, null);
      } catch (reason) {
        if (asked === wanted) fault.value = faultOf(reason);
      }
    }
    isUnderWay.value = false;
  }

  watch(about, () => (answer.value = null), { flush: 'sync' });
  watch(
    text,
    (changed) => {
      wanted = null;
      if (typeof changed !== 'string') {
        fault.value = changed.reason;
        return;
      }
      const { question } = JSON.parse(changed) as { question: Q | null };
      if (question === null) {
        tell(null, null);
        return;
      }
      wanted = { question };
      void pursue();
    },
    { immediate: true },
  );
  return { answer, fault, isUnderWay };
}
