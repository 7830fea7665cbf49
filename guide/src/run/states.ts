import type { Cell } from '../core/types/Cell';
import type { Means } from '../core/types/Means';
import type { BlockView } from '../core/types/BlockView';
import type { Trace } from '../core/types/Trace';

/** The rows of a buffer's picture: the blocks that any rank has of it. */
export interface Rows {
  first: number;
  count: number;
}

/** Where blocks stand in a state. Buffer after buffer, in each rank after rank, in each its blocks. */
export interface Layout {
  rows: Rows[];
  offsets: number[];
  length: number;
}

/** The number of each block's value; -1 where it holds nothing. */
export type State = Int32Array;

/** A block at a moment of a run. */
export interface ShownBlock extends BlockView {
  /** -1 where it holds nothing. */
  value: number;
  /** How the step just made has written it; null if it has not. */
  written: Means | null;
  /** Whether the next step reads it. */
  isRead: boolean;
}

export function layoutOf(trace: Trace): Layout {
  const rows = trace.buffers.map(({ ranges }): Rows => {
    const owned = ranges.filter(({ count }) => count > 0);
    const first = Math.min(...owned.map(({ first }) => first));
    return { first, count: Math.max(...owned.map(({ first, count }) => first + count)) - first };
  });
  const offsets: number[] = [];
  let length = 0;
  for (const { count } of rows) {
    offsets.push(length);
    length += count * trace.problem.ranks;
  }
  return { rows, offsets, length };
}

function indexOf({ rows, offsets }: Layout, { rank, buffer, block }: BlockView): number {
  const { first = 0, count = 0 } = rows[buffer] ?? {};
  return (offsets[buffer] ?? 0) + rank * count + block - first;
}

/** The states of a run: number `s` is the one after `s` steps. They are made when they are first asked for, and kept. */
export class States {
  readonly layout: Layout;
  private readonly made: State[];

  constructor(readonly trace: Trace) {
    this.layout = layoutOf(trace);
    this.made = [this.written(new Int32Array(this.layout.length).fill(-1), trace.initial)];
  }

  at(step: number): State {
    for (let next = this.made.length; next <= step; next++) {
      const before = this.made[next - 1] ?? new Int32Array(this.layout.length);
      this.made.push(this.written(before.slice(), this.trace.steps[next - 1]?.writes ?? []));
    }
    return this.made[step] ?? new Int32Array(this.layout.length).fill(-1);
  }

  /** The blocks of a buffer after a number of steps, rank after rank. */
  blocks(step: number, buffer: number): ShownBlock[] {
    const state = this.at(step);
    const index = (place: BlockView) => indexOf(this.layout, place);
    const isHere = (place: BlockView) => place.buffer === buffer;
    const written = new Map(
      (this.trace.steps[step - 1]?.writes ?? []).filter(isHere).map((cell) => [index(cell), cell.how]),
    );
    const read = new Set((this.trace.steps[step]?.reads ?? []).filter(isHere).map(index));
    const ranges = this.trace.buffers[buffer]?.ranges ?? [];
    return ranges.flatMap((range, rank) =>
      Array.from({ length: range.count }, (_, position) => {
        const place = { rank, buffer, block: range.first + position };
        const at = index(place);
        return { ...place, value: state[at] ?? -1, written: written.get(at) ?? null, isRead: read.has(at) };
      }),
    );
  }

  private written(state: State, cells: Cell[]): State {
    for (const cell of cells) state[indexOf(this.layout, cell)] = cell.value ?? -1;
    return state;
  }
}
