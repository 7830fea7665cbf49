import { computed, type ComputedRef } from 'vue';

import { ask } from '../core/client';
import type { AlgorithmEntry } from '../core/types/AlgorithmEntry';
import type { Subject } from '../core/types/Subject';
import type { Trace } from '../core/types/Trace';
import { defaultProblem } from './defaults';
import { problemFromQuery } from './problem-link';
import { useAnswer, type Answered } from './use-answer';
import type { Link } from './use-link';

export interface Run extends Answered<Trace> {
  /** What is asked for, if the link says it rightly. */
  subject: ComputedRef<Subject | null>;
}

/** The run of an algorithm on the problem that the link describes with keys of a prefix. */
export function useRun(
  link: Link,
  collective: () => string,
  algorithm: () => AlgorithmEntry | undefined,
  prefix = '',
): Run {
  function wanted(): Subject | null {
    const entry = algorithm();
    if (!entry) return null;
    const problem = problemFromQuery(link.query(), prefix, defaultProblem(entry));
    return { collective: collective(), algorithm: entry.name, problem };
  }
  const answered = useAnswer(
    wanted,
    (subject) => ask('trace', subject),
    () => `${collective()} ${algorithm()?.name}`,
  );
  const subject = computed(() => {
    if (answered.fault.value) return null;
    try {
      return wanted();
    } catch {
      // The same fault is on its way into the answer.
      return null;
    }
  });
  return { ...answered, subject };
}
