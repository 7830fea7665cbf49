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

/** A state is kept after every so many steps: a long run of many blocks has too many states to keep them all. */
const KEPT_EVERY = 64;

/** The states of a run: number `s` is the one after `s` steps. They are made when they are asked for. */
export class States {
  readonly layout: Layout;
  /** The states after 0, `KEPT_EVERY`, twice `KEPT_EVERY` … steps, as far as they were passed. */
  private readonly kept: State[];
  private latest: { step: number; state: State };

  constructor(readonly trace: Trace) {
    this.layout = layoutOf(trace);
    const state = this.written(new Int32Array(this.layout.length).fill(-1), trace.initial);
    this.kept = [state];
    this.latest = { step: 0, state };
  }

  at(step: number): State {
    if (this.latest.step !== step) this.latest = { step, state: this.made(step) };
    return this.latest.state;
  }

  private made(step: number): State {
    const place = Math.min(Math.floor(step / KEPT_EVERY), this.kept.length - 1);
    const state = this.kept[place]?.slice() ?? new Int32Array(this.layout.length);
    for (let next = place * KEPT_EVERY + 1; next <= step; next++) {
      this.written(state, this.trace.steps[next - 1]?.writes ?? []);
      if (next % KEPT_EVERY === 0) this.kept.push(state.slice());
    }
    return state;
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
