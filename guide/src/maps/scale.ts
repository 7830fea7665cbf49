/** A range on a logarithmic axis, as logarithms to base 2. */
export interface Span {
  low: number;
  high: number;
}

/** What a map shows; collectives whose rules cannot look at bytes have no second axis. */
export interface Frame {
  ranks: Span;
  bytes: Span | null;
}

/** A number of ranks and the width that it is drawn with. */
export interface Column extends Span {
  ranks: number;
}

/** A call on a map; its bytes are 0 where they do not count. */
export interface Point {
  ranks: number;
  bytes: number;
}

/** The room around the plot for its axes, in pixels. */
export const MARGIN = { left: 92, right: 14, top: 10, bottom: 46 };

/** Half the width of a power of two where its neighbours leave it less: narrower columns could not be seen. */
const HALF_OF_POWER = 1 / 32;

const isPowerOfTwo = (number: number) => Number.isInteger(Math.log2(number));

/** All numbers up to 64; of each octave above eight, with the neighbours of powers of two. */
export function sampledRanks(most: number): number[] {
  const samples = new Set<number>();
  for (let ranks = 2; ranks <= Math.min(64, most); ranks++) samples.add(ranks);
  for (let octave = 64; octave < most; octave *= 2) {
    samples.add(octave + 1);
    for (let eighth = 1; eighth <= 8; eighth++) samples.add(octave + (eighth * octave) / 8);
    samples.add(2 * octave - 1);
  }
  return [...samples].filter((ranks) => ranks <= most).sort((one, other) => one - other);
}

/** Columns that touch, in the middle between neighbouring numbers of ranks. */
export function columnsOf(ranks: number[]): Column[] {
  const edge = (left: number, right: number) => {
    const middle = (Math.log2(left) + Math.log2(right)) / 2;
    if (right - left > 1) return middle;
    if (isPowerOfTwo(right)) return Math.min(middle, Math.log2(right) - HALF_OF_POWER);
    return isPowerOfTwo(left) ? Math.max(middle, Math.log2(left) + HALF_OF_POWER) : middle;
  };
  return ranks.map((number, index) => {
    const left = ranks[index - 1];
    const right = ranks[index + 1];
    const low = left === undefined ? Math.log2(number) - HALF_OF_POWER : edge(left, number);
    const high = right === undefined ? Math.log2(number) + HALF_OF_POWER : edge(number, right);
    return { ranks: number, low, high };
  });
}

export function spanOf(columns: Column[]): Span {
  return { low: columns[0]?.low ?? 0, high: columns.at(-1)?.high ?? 1 };
}

export function columnAt(columns: Column[], logarithm: number): Column | undefined {
  return columns.find(({ low, high }) => low <= logarithm && logarithm < high);
}

/** Where a point is drawn in a chart of some size, in pixels. */
export function toPixel(frame: Frame, point: Point, width: number, height: number): { x: number; y: number } {
  const part = ({ low, high }: Span, value: number) => (Math.log2(value) - low) / (high - low);
  const across = part(frame.ranks, point.ranks);
  const up = frame.bytes ? part(frame.bytes, Math.max(point.bytes, 1)) : 0.5;
  return {
    x: MARGIN.left + across * (width - MARGIN.left - MARGIN.right),
    y: MARGIN.top + (1 - up) * (height - MARGIN.top - MARGIN.bottom),
  };
}

/** The point that is drawn at a pixel, its ranks those of a column; none outside of the plot. */
export function toPoint(
  frame: Frame,
  columns: Column[],
  pixel: { x: number; y: number },
  width: number,
  height: number,
): Point | null {
  const value = ({ low, high }: Span, part: number) => low + part * (high - low);
  const across = (pixel.x - MARGIN.left) / (width - MARGIN.left - MARGIN.right);
  const up = 1 - (pixel.y - MARGIN.top) / (height - MARGIN.top - MARGIN.bottom);
  const column = columnAt(columns, value(frame.ranks, across));
  if (!column || up < 0 || up > 1) return null;
  return { ranks: column.ranks, bytes: frame.bytes ? Math.round(2 ** value(frame.bytes, up)) : 0 };
}

/** What decision maps show: 2 to 4096 ranks, 1 byte to 64 MiB. */
export const MAP_COLUMNS = columnsOf(sampledRanks(4096));
export const MAP_BYTES: Span = { low: 0, high: 26 };
