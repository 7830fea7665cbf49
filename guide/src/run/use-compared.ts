import { computed, type ComputedRef } from 'vue';

import { findAlgorithm } from '../core/catalog';
import type { AlgorithmEntry } from '../core/types/AlgorithmEntry';
import type { CollectiveEntry } from '../core/types/CollectiveEntry';
import { said } from './problem-link';
import type { Link } from './use-link';
import { useRun, type Run } from './use-run';

export interface Compared extends Run {
  algorithm: ComputedRef<AlgorithmEntry | undefined>;
  /** What is wrong with the algorithm that the link names. */
  wrongName: ComputedRef<string | undefined>;
}

/** Those with steps of their own, which can be compared. */
export function comparable(collective: CollectiveEntry): AlgorithmEntry[] {
  return collective.algorithms.filter(({ kind }) => kind !== 'calls');
}

/** One of two runs that are compared; where the link names no algorithm, the first one other than `besides` is taken. */
export function useCompared(
  link: Link,
  collective: () => CollectiveEntry | null | undefined,
  side: 'a' | 'b',
  besides: () => AlgorithmEntry | undefined = () => undefined,
): Compared {
  const named = computed(() => {
    const name = said(link.query(), side);
    const entry = collective();
    return name === undefined || !entry ? undefined : { name, found: findAlgorithm(entry, name) };
  });
  const isComparable = computed(() => named.value?.found !== undefined && named.value.found.kind !== 'calls');
  const algorithm = computed(() => {
    const entry = collective();
    if (!entry) return undefined;
    const choices = comparable(entry);
    return isComparable.value
      ? named.value?.found
      : (choices.find(({ name }) => name !== besides()?.name) ?? choices[0]);
  });
  const wrongName = computed(() => {
    if (!named.value || isComparable.value) return undefined;
    const { name, found } = named.value;
    if (found) return `${name} has no steps of its own to compare`;
    return `${collective()?.mpi} has no algorithm named “${name}”`;
  });
  const run = useRun(
    link,
    () => collective()?.name ?? '',
    () => algorithm.value,
    `${side}_`,
  );
  return { ...run, algorithm, wrongName };
}
