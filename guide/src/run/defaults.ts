import type { AlgorithmEntry } from '../core/types/AlgorithmEntry';
import type { ProblemFields } from '../core/types/ProblemFields';

/** What is drawn where a link says nothing; nodes of four, so that algorithms that know them have something to show. */
export function defaultProblem({ controls }: AlgorithmEntry): ProblemFields {
  return controls.includes('ranks_per_node') ? { ranks: 8, ranks_per_node: 4 } : { ranks: 8 };
}
