import { ref, shallowRef, watch } from 'vue';

import { ask, GuideError } from '../core/client';
import { turns } from '../core/turns';
import type { Decisions } from '../core/types/Decisions';
import type { DecisionsQuestion } from '../core/types/DecisionsQuestion';
import type { RulesText } from '../core/types/RulesText';
import { ownRules, readRuleFile, takeRules } from './rule-file';

/** Why a rule file is not shown, and the file, whose lines are shown with its faults. */
export interface Refused {
  rules: RulesText;
  error: GuideError;
}

/** The decisions of the rules in use. A file that is refused leaves them as they are. */
export function useDecisions(
  collective: () => string,
  ranks: number[],
  circumstances: () => Pick<DecisionsQuestion, 'ranks_per_node' | 'tcp' | 'grid'>,
) {
  const decisions = shallowRef<Decisions | null>(null);
  const refused = shallowRef<Refused | null>(null);
  const isReading = ref(false);
  const begin = turns();

  const decide = (rules: RulesText | null) =>
    ask('decisions', { collective: collective(), rules, ranks, ...circumstances() });

  watch(
    [collective, () => JSON.stringify(circumstances()), ownRules],
    async ([name], [before], onCleanup) => {
      if (name !== before) decisions.value = null;
      let isCurrent = true;
      onCleanup(() => (isCurrent = false));
      const answer = await decide(ownRules.value);
      if (isCurrent) decisions.value = answer;
    },
    { immediate: true },
  );

  async function load(file: File): Promise<void> {
    const isLatest = begin();
    isReading.value = true;
    let rules: RulesText = { name: file.name, text: '' };
    try {
      rules = await readRuleFile(file);
      await decide(rules);
      if (!isLatest()) return;
      refused.value = null;
      takeRules(rules);
    } catch (error) {
      if (!(error instanceof GuideError)) throw error;
      if (isLatest()) refused.value = { rules, error };
    } finally {
      if (isLatest()) isReading.value = false;
    }
  }

  return { decisions, refused, isReading, load };
}
