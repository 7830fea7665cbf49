import type { Decisions } from '../core/types/Decisions';
import type { DecidedBytes } from '../core/types/DecidedBytes';
import type { Column, Point, Span } from './scale';

/** A rectangle of a map: neighbouring numbers of ranks, and bytes from the first to before the last. */
export interface Area {
  region: number;
  ranks: Span;
  bytes: Span;
}

/** Where one rule decides on one number of ranks; the last piece has no end. */
export interface Stretch {
  region: number;
  first: number;
  end: number;
}

const logarithm = (bytes: number) => Math.log2(Math.max(bytes, 1));

export function stretches(pieces: DecidedBytes[]): Stretch[] {
  return pieces.map(({ bytes, region }, index) => ({
    region,
    first: bytes,
    end: pieces[index + 1]?.bytes ?? Infinity,
  }));
}

/** The part of a stretch that a map shows; null if that is none. */
function shown({ first, end }: Stretch, frame: Span | null): Span | null {
  if (!frame) return { low: 0, high: 1 };
  const low = first === 0 ? frame.low : Math.max(frame.low, logarithm(first));
  const high = Math.min(frame.high, logarithm(end));
  return low < high ? { low, high } : null;
}

/** The decisions as rectangles, as wide as neighbouring columns agree. */
export function areasOf(decisions: Decisions, columns: Column[], frame: Span | null): Area[] {
  const areas: Area[] = [];
  let open = new Map<string, Area>();
  decisions.columns.forEach((pieces, index) => {
    const column = columns[index];
    if (!column) return;
    const left = open;
    open = new Map();
    for (const stretch of stretches(pieces)) {
      const bytes = shown(stretch, frame);
      if (!bytes) continue;
      const key = `${stretch.region} ${bytes.low} ${bytes.high}`;
      const known = left.get(key);
      const area = known ?? { region: stretch.region, ranks: { low: column.low, high: column.high }, bytes };
      if (!known) areas.push(area);
      area.ranks.high = column.high;
      open.set(key, area);
    }
  });
  return areas;
}

/** A stretch, and the index of its column. */
interface Placed extends Stretch {
  column: number;
}

/** The stretches of each region, column after column. */
function byRegion(decisions: Decisions): Map<number, Placed[]> {
  const found = new Map<number, Placed[]>();
  decisions.columns.forEach((pieces, column) => {
    for (const stretch of stretches(pieces)) {
      const placed = found.get(stretch.region) ?? [];
      placed.push({ ...stretch, column });
      found.set(stretch.region, placed);
    }
  });
  return found;
}

/** Octaves of bytes; nothing can be written into less. */
const LEAST_HEIGHT = 0.5;

/** For each region the largest rectangle that lies in it and may be high enough: there its name is written. */
export function roomiest(decisions: Decisions, columns: Column[], frame: Span | null): Area[] {
  return [...byRegion(decisions)].flatMap(([region, placed]) => {
    const parts: Span[][] = columns.map(() => []);
    for (const stretch of placed) {
      const bytes = shown(stretch, frame);
      if (bytes && bytes.high - bytes.low >= LEAST_HEIGHT) parts[stretch.column]?.push(bytes);
    }
    return largest(
      parts.flatMap((spans, first) => spans.flatMap((bytes) => widest(region, parts, columns, first, bytes))),
    );
  });
}

const size = ({ ranks, bytes }: Area) => (ranks.high - ranks.low) * (bytes.high - bytes.low);

/** The largest of some rectangles, if there are any. */
const largest = (areas: Area[]) =>
  areas.length === 0 ? [] : [areas.reduce((best, area) => (size(area) > size(best) ? area : best))];

/** The largest rectangle that begins with a part of a column; none if it is larger from the column before. */
function widest(region: number, parts: Span[][], columns: Column[], first: number, start: Span): Area[] {
  const low = columns[first]?.low;
  const isSame = (part: Span) => part.low === start.low && part.high === start.high;
  if (low === undefined || parts[first - 1]?.some(isSame)) return [];
  const found: Area[] = [];
  let bytes: Span | undefined = start;
  for (let index = first; bytes && index < parts.length; index++) {
    const before: Span = bytes;
    bytes = parts[index]
      ?.map((part) => ({ low: Math.max(part.low, before.low), high: Math.min(part.high, before.high) }))
      .find((common) => common.low < common.high);
    const high = columns[index]?.high;
    if (bytes && high !== undefined) found.push({ region, ranks: { low, high }, bytes });
  }
  return largest(found);
}

/** Which rule decides a call, and from how many bytes to before how many; undefined where nobody was asked. */
export function stretchAt(decisions: Decisions, columns: Column[], point: Point): Stretch | undefined {
  const index = columns.findIndex(({ ranks }) => ranks === point.ranks);
  return stretches(decisions.columns[index] ?? []).findLast(({ first }) => first <= point.bytes);
}

/** Of each region: the fewest and the most ranks and bytes with which it is met. */
export interface Extent {
  region: number;
  ranks: [number, number];
  bytes: [number, number];
}

export function extents(decisions: Decisions, columns: Column[]): Extent[] {
  return [...byRegion(decisions)].map(([region, placed]) => {
    const extent: Extent = { region, ranks: [Infinity, -Infinity], bytes: [Infinity, -Infinity] };
    for (const { column, first, end } of placed) {
      const ranks = columns[column]?.ranks ?? 0;
      extent.ranks = [Math.min(extent.ranks[0], ranks), Math.max(extent.ranks[1], ranks)];
      extent.bytes = [Math.min(extent.bytes[0], first), Math.max(extent.bytes[1], end - 1)];
    }
    return extent;
  });
}

/** A range of bytes in words. */
export function rangeText(least: number, most: number, text: (bytes: number) => string): string {
  if (most === Infinity) return least === 0 ? 'any number of bytes' : `${text(least)} and more`;
  return least === most ? text(least) : `${text(least)} to ${text(most)}`;
}
