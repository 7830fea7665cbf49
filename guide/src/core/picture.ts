import { ask } from './client';
import type { Cell } from './types/Cell';
import type { CollectiveEntry } from './types/CollectiveEntry';
import type { ProblemFields } from './types/ProblemFields';
import type { Trace } from './types/Trace';

/** A block somewhere: what is written on it, and whose colour it has; null where several ranks have their part in it. */
export interface PictureBlock {
  block: number;
  label: string;
  /** Its number among the blocks of the rank that it comes from. */
  number: number;
  origin: number | null;
}

/** What ranks hold before a collective and after it. */
export interface Picture {
  /** Whether a rank has several blocks, so that their numbers tell something. */
  isNumbered: boolean;
  before: PictureBlock[][];
  after: PictureBlock[][];
}

const RANKS = 4;

/** What an algorithm does to the blocks of four ranks, taken from its own trace; null where nothing is to be seen. */
export async function pictureOf(collective: CollectiveEntry): Promise<Picture | null> {
  const algorithm = collective.algorithms.find(
    ({ kind, controls }) => kind === 'messages' && !controls.includes('remote'),
  );
  if (!algorithm) return null;
  const problem: ProblemFields = algorithm.controls.includes('grid')
    ? { ranks: RANKS, grid: `${RANKS}`, periodic: true }
    : { ranks: RANKS };
  const trace = await ask('trace', { collective: collective.name, algorithm: algorithm.name, problem });
  const cells = [...trace.initial, ...trace.steps.flatMap(({ writes }) => writes)];
  const before = rows(trace, trace.initial, ['send', 'recv']);
  const after = rows(trace, cells, ['recv']);
  if (!after.some((row) => row.length > 0)) return null;
  return { before, after, isNumbered: before.some((row) => row.length > 1) };
}

/** What stands in some buffers of each rank once all cells are written, in the order of the blocks. */
function rows(trace: Trace, cells: Cell[], names: string[]): PictureBlock[][] {
  return Array.from({ length: trace.problem.ranks }, (_, rank) => {
    const blocks = new Map<number, PictureBlock>();
    for (const cell of cells) {
      const value = cell.value === null ? undefined : trace.values[cell.value];
      if (cell.rank !== rank || !value || !names.includes(trace.buffers[cell.buffer]?.name ?? '')) continue;
      const { label, block: number, origin } = value;
      blocks.set(cell.block, { block: cell.block, label, number, origin });
    }
    return [...blocks.values()].sort((one, other) => one.block - other.block);
  });
}
