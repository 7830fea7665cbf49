import { shallowRef, type ShallowRef } from 'vue';

import { ask } from './client';
import { notify } from './notice';
import type { AlgorithmEntry } from './types/AlgorithmEntry';
import type { Catalog } from './types/Catalog';
import type { CollectiveEntry } from './types/CollectiveEntry';

const catalog = shallowRef<Catalog | null>(null);
let asked = false;

/** The collectives and algorithms there are; null until the library has answered. */
export function useCatalog(): ShallowRef<Catalog | null> {
  if (!asked) {
    asked = true;
    ask('catalog', {}).then((answer) => (catalog.value = answer), notify);
  }
  return catalog;
}

export function findCollective(catalog: Catalog, name: string): CollectiveEntry | undefined {
  return catalog.collectives.find((collective) => collective.name === name);
}

/** The algorithm of that name or alias. */
export function findAlgorithm(collective: CollectiveEntry, name: string): AlgorithmEntry | undefined {
  return collective.algorithms.find(
    (algorithm) => algorithm.name === name || algorithm.aliases.includes(name),
  );
}
