import type { CollectiveEntry } from './types/CollectiveEntry';

/** How an algorithm looks wherever it is drawn: a colour, and a short code so that colour is never the only sign. */
export interface Look {
  fill: string;
  code: string;
}

/** What is written on any fill; all of them are light enough for it. */
export const INK = '#111111';

/** What no algorithm serves. */
export const NONE: Look = { fill: '#c4c4c4', code: '–' };

const FILLS = [
  '#7cb5ec',
  '#f7a35c',
  '#90ed7d',
  '#e4d354',
  '#f28fb1',
  '#8dd3c7',
  '#bebada',
  '#fb8072',
  '#b3de69',
  '#d9b38c',
  '#5ec4d6',
  '#cf9bdc',
  '#a3b1c2',
  '#ffd92f',
  '#66c2a5',
  '#e78ac3',
  '#a6cee3',
  '#fdbf6f',
  '#33b36b',
  '#c49a6c',
  '#8da0f5',
  '#c9c94a',
  '#ffb3b0',
  '#9fd9a8',
];

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** A to Z, then A1 to Z1, and so on. */
function code(index: number): string {
  const letter = LETTERS[index % LETTERS.length] ?? '';
  const round = Math.floor(index / LETTERS.length);
  return round === 0 ? letter : `${letter}${round}`;
}

/** The look of an algorithm; it depends on its place in the catalog, so that all pages agree. */
export function lookOf(collective: CollectiveEntry, algorithm: string | null): Look {
  const index = collective.algorithms.findIndex(({ name }) => name === algorithm);
  if (index < 0) return NONE;
  return { fill: FILLS[index % FILLS.length] ?? NONE.fill, code: code(index) };
}
