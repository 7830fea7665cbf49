import { shallowRef } from 'vue';

import { readTextFile } from '../core/text-file';
import { LONGEST_RULES } from '../core/types/limits';
import type { RulesText } from '../core/types/RulesText';

const KEY = 'rustcoll-guide-rules';

/** The rules of a file. Fails if the file is too long, or is no text. */
export async function readRuleFile(file: File): Promise<RulesText> {
  return { name: file.name, text: await readTextFile(file, LONGEST_RULES, 'a rule file') };
}

function kept(): RulesText | null {
  try {
    const rules = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<RulesText> | null;
    const { name, text } = rules ?? {};
    return typeof name === 'string' && typeof text === 'string' ? { name, text } : null;
  } catch {
    return null;
  }
}

const own = shallowRef(kept());

/** The rules that the reader has loaded, which hold for all collectives; null while the default ones do. */
export const ownRules = own;

/** Takes other rules. They last as long as the tab, or as long as the page where storage is forbidden. */
export function takeRules(rules: RulesText | null): void {
  own.value = rules;
  try {
    if (rules) sessionStorage.setItem(KEY, JSON.stringify(rules));
    else sessionStorage.removeItem(KEY);
  } catch {
    return;
  }
}
