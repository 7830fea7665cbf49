import type { LocationQuery, LocationQueryValue } from 'vue-router';

import { GuideError } from '../core/client';
import { messageOf } from '../core/message';
import { FEWEST_RANKS, MOST_RANKS, MOST_SEGMENTS } from '../core/types/limits';
import type { ProblemFields } from '../core/types/ProblemFields';

/** What can be chosen of a problem, by the library's name. */
export type ProblemField = keyof ProblemFields;

export interface FieldDescription {
  field: ProblemField;
  /** Its key in links. */
  key: string;
  title: string;
  kind: 'number' | 'flag' | 'text';
  least?: number;
  most?: number;
}

export const ROOT: FieldDescription = {
  field: 'root',
  key: 'root',
  title: 'Root',
  kind: 'number',
  least: 0,
  most: MOST_RANKS - 1,
};

export const PROBLEM_FIELDS: FieldDescription[] = [
  { field: 'ranks', key: 'p', title: 'Processes', kind: 'number', least: FEWEST_RANKS, most: MOST_RANKS },
  ROOT,
  { field: 'radix', key: 'r', title: 'Radix', kind: 'number', least: 2, most: MOST_RANKS },
  { field: 'segments', key: 'segments', title: 'Segments', kind: 'number', least: 1, most: MOST_SEGMENTS },
  { field: 'window', key: 'window', title: 'Window', kind: 'number', least: 1 },
  { field: 'ranks_per_node', key: 'ranks_per_node', title: 'Ranks on a node', kind: 'number', least: 1 },
  {
    field: 'remote',
    key: 'remote',
    title: 'Ranks of the second group',
    kind: 'number',
    least: 1,
    most: MOST_RANKS - 1,
  },
  { field: 'grid', key: 'grid', title: 'Grid, as 4x2', kind: 'text' },
  { field: 'periodic', key: 'periodic', title: 'Periodic', kind: 'flag' },
  { field: 'corners', key: 'corners', title: 'Neighbours at corners', kind: 'flag' },
  { field: 'in_place', key: 'in_place', title: 'In place', kind: 'flag' },
];

const TRUE = ['1', 'true', ''];
const FALSE = ['0', 'false'];

/** What a link says under a key; undefined where it says nothing. */
export function said(query: LocationQuery, key: string): string | undefined {
  const value = query[key];
  const last: LocationQueryValue | undefined = Array.isArray(value) ? value.at(-1) : value;
  return last === undefined ? undefined : (last ?? '');
}

/** A whole number that a link says. Fails with the name of its field. */
export function wholeNumber(text: string, key: string, field: string, least = 0, most = Infinity): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  const range = most === Infinity ? `from ${least} up` : `from ${least} to ${most}`;
  throw new GuideError(`${key} ${text || '(nothing)'}: expected a whole number ${range}`, field);
}

/** Whether a link says yes. Fails with the name of its field. */
export function flag(text: string, key: string, field: string): boolean {
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw new GuideError(`${key} ${text}: expected 1 or 0`, field);
}

/** The messages of all checks that fail. */
export function faultsOf(checks: (() => unknown)[]): string[] {
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (reason) {
      return [messageOf(reason)];
    }
  });
}

/**
 * The problem that a link describes with keys of a prefix; of several problems, `p` holds for all that say nothing else. What it
 * says of numbers' ranges, and of what an algorithm takes, is for the library to judge. Fails with the name of the field that is
 * none.
 */
export function problemFromQuery(
  query: LocationQuery,
  prefix: string,
  defaults: ProblemFields,
): ProblemFields {
  const problem: Record<string, number | boolean | string | null> = { ...defaults };
  for (const { field, kind, key } of PROBLEM_FIELDS) {
    const text = said(query, prefix + key) ?? (field === 'ranks' ? said(query, key) : undefined);
    if (text === undefined) continue;
    if (kind === 'text') problem[field] = text;
    else if (kind === 'flag') problem[field] = flag(text, key, field);
    else problem[field] = wholeNumber(text, key, field);
  }
  return problem as unknown as ProblemFields;
}

/** The keys of a problem in links, with nothing said; a number of ranks that holds for several problems is not one of them. */
export function withoutProblem(prefix: string): Record<string, undefined> {
  return Object.fromEntries(PROBLEM_FIELDS.map(({ key }) => [prefix + key, undefined]));
}
