import { readTextFile } from '../core/text-file';
import type { Verdict } from '../core/types/Verdict';

/** As long as a text may be that the library follows, see `MOST_CHARACTERS` of `crates/guide-questions`. */
const LONGEST_FILE = 1 << 18;

/** Longer texts would make links that nobody can pass on. */
const LONGEST_IN_LINK = 1500;

const key = (collective: string) => `rustcoll-guide-own-${collective}`;

/** Storage may be forbidden; a text then lasts as long as the page. */
export function kept(collective: string): string {
  try {
    return sessionStorage.getItem(key(collective)) ?? '';
  } catch {
    return '';
  }
}

export function keep(collective: string, text: string): void {
  try {
    sessionStorage.setItem(key(collective), text);
  } catch {
    return;
  }
}

export function fitsInLink(text: string): boolean {
  return text.length <= LONGEST_IN_LINK;
}

/** The schedules of a file. Fails if it is none, or too long. */
export const readSchedules = (file: File) => readTextFile(file, LONGEST_FILE, 'a schedule');

/** Schedules may stand in any order; the header says whose one is. */
const HEADER = /^rank\s+(\d+)/;

const content = (line: string) => (line.split('#')[0] ?? '').trim();

/** The line, from 1, of the step at which a verdict finds a fault, or of the header of the rank at fault. */
export function lineOf(text: string, { rank, step }: Verdict): number | null {
  if (rank === null) return null;
  let schedule = -1;
  let steps = 0;
  for (const [index, line] of text.split('\n').entries()) {
    if (content(line) === '') continue;
    const header = HEADER.exec(content(line));
    if (header) [schedule, steps] = [Number(header[1]), 0];
    if (schedule !== rank) continue;
    if (header ? step === null : steps++ === step) return index + 1;
  }
  return null;
}
