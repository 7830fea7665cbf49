import { computed, onScopeDispose, ref, watch, type ComputedRef, type Ref } from 'vue';

import { ask } from '../core/client';
import { withPlainLines } from '../core/text-file';
import type { OwnSchedule } from '../core/types/OwnSchedule';
import type { Trace } from '../core/types/Trace';
import { fitsInLink, keep, kept } from './own-text';
import { flag, said, wholeNumber } from './problem-link';
import { useAnswer, type Answered } from './use-answer';
import type { Link } from './use-link';

export interface Own extends Answered<Trace> {
  text: Ref<string>;
  /** Whether answer and fault are those of the text as it is now. */
  isRead: ComputedRef<boolean>;
  /** Whether the link alone brings the text back. */
  isInLink: ComputedRef<boolean>;
  /** Whether an option of the call is chosen; what the link says amiss is a fault of the answer. */
  isChosen(option: string): boolean;
  /** What is asked: another text, or other options of the call. */
  about(): string;
}

/** Typing goes on for so long before the text is read. */
const PAUSE = 300;

/** The keys of what else is asked than the text. */
const OPTIONS = ['root', 'in_place', 'ordered'];

/** The user's schedules, whose text is in the link if it is short, else kept as long as the window is open. */
export function useOwn(link: Link, collective: () => string): Own {
  const stored = () => withPlainLines(said(link.query(), 'text') ?? kept(collective()));
  const text = ref(stored());
  const read = ref(text.value);
  const inLink = (text: string) => (text !== '' && fitsInLink(text) ? text : undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;

  watch(
    () => said(link.query(), 'text'),
    (changed) => {
      if (changed !== undefined) text.value = stored();
    },
  );
  watch(collective, () => (text.value = stored()));
  watch(text, (changed) => {
    keep(collective(), changed);
    link.change({ text: inLink(changed), step: undefined }, true);
    clearTimeout(timer);
    timer = setTimeout(() => (read.value = changed), PAUSE);
  });
  onScopeDispose(() => clearTimeout(timer));

  // A text that was kept may come back without its link, which is to say it as well.
  if (said(link.query(), 'text') === undefined && inLink(text.value)) link.change({ text: text.value });

  function isSaid(key: string): boolean {
    const text = said(link.query(), key);
    return text !== undefined && flag(text, key, key);
  }

  function isChosen(option: string): boolean {
    try {
      return isSaid(option);
    } catch {
      return false;
    }
  }

  function question(): OwnSchedule | null {
    if (read.value.trim() === '') return null;
    const root = said(link.query(), 'root');
    return {
      collective: collective(),
      text: read.value,
      in_place: isSaid('in_place'),
      ordered: isSaid('ordered'),
      ...(root === undefined ? {} : { root: wholeNumber(root, 'root', 'root') }),
    };
  }
  const answered = useAnswer(question, (own) => ask('own', own), collective);
  return {
    ...answered,
    text,
    isRead: computed(() => text.value === read.value && !answered.isUnderWay.value),
    isInLink: computed(() => fitsInLink(text.value)),
    isChosen,
    about: () => [...OPTIONS.map((key) => said(link.query(), key)), text.value].join('\n'),
  };
}
