import type { LocationQuery } from 'vue-router';

import { machineFaults, MACHINE_NUMBERS, RANKS_PER_NODE } from '../core/machine';
import type { AlgorithmEntry } from '../core/types/AlgorithmEntry';
import { faultsOf, flag, PROBLEM_FIELDS, said } from './problem-link';
import { bytesOfLink } from './use-bytes';

const PROBLEM_KEYS = PROBLEM_FIELDS.map(({ key }) => key);

/** The keys of where a run is and how it is shown, with one algorithm or two. */
export const STEPPING_KEYS = ['n', 'step', 'speed'];

const ALGORITHM_KEYS = [
  ...PROBLEM_KEYS,
  ...STEPPING_KEYS,
  'timeline',
  'bytes',
  'machine',
  ...MACHINE_NUMBERS,
];
const COMPARED_KEYS = [
  ...['a', 'b', 'p'],
  ...STEPPING_KEYS,
  ...['a_', 'b_'].flatMap((prefix) => PROBLEM_KEYS.map((key) => prefix + key)),
];

function unknownKeys(query: LocationQuery, known: string[]): string[] {
  return Object.keys(query)
    .filter((key) => !known.includes(key))
    .map((key) => `${key}: this page has no such key; it has ${known.join(', ')}`);
}

const NO_NODES = `${RANKS_PER_NODE}: this has no effect where the algorithm says which ranks share a node`;

/** What the link to an algorithm says amiss and no control shows. */
export function algorithmFaults(query: LocationQuery, { places_ranks }: AlgorithmEntry): string[] {
  const [bytes, timeline] = [said(query, 'bytes'), said(query, 'timeline')];
  return [
    ...unknownKeys(query, ALGORITHM_KEYS),
    ...(bytes === undefined ? [] : faultsOf([() => bytesOfLink(bytes)])),
    ...(timeline === undefined ? [] : faultsOf([() => flag(timeline, 'timeline', 'timeline')])),
    ...(places_ranks && said(query, RANKS_PER_NODE) !== undefined ? [NO_NODES] : []),
    ...machineFaults(query),
  ];
}

/** What the link to two algorithms says amiss and no control shows. */
export function comparedFaults(query: LocationQuery): string[] {
  return unknownKeys(query, COMPARED_KEYS);
}
