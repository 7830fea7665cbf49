import { readTextFile } from '../core/text-file';
import { LONGEST_SCHEDULES } from '../core/types/limits';

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
export const readSchedules = (file: File) => readTextFile(file, LONGEST_SCHEDULES, 'a schedule');
