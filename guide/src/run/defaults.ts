import type { AlgorithmEntry } from '../core/types/AlgorithmEntry';
import type { ProblemInput } from '../core/types/ProblemInput';

/** What is drawn where a link says nothing; nodes of four, so that algorithms that know them have something to show. */
export function defaultProblem({ controls }: AlgorithmEntry): ProblemInput {
  return controls.includes('ranks_per_node') ? { ranks: 8, ranks_per_node: 4 } : { ranks: 8 };
}
