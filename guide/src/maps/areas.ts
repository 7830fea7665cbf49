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
  let open: Area[] = [];
  decisions.columns.forEach((pieces, index) => {
    const column = columns[index];
    if (!column) return;
    open = stretches(pieces).flatMap((stretch) => {
      const bytes = shown(stretch, frame);
      if (!bytes) return [];
      const left = open.find(
        ({ region, bytes: { low, high } }) =>
          region === stretch.region && low === bytes.low && high === bytes.high,
      );
      if (left) {
        left.ranks.high = column.high;
        return [left];
      }
      const area = { region: stretch.region, ranks: { low: column.low, high: column.high }, bytes };
      areas.push(area);
      return [area];
    });
  });
  return areas;
}

/** For each region the largest rectangle that lies in it: there its name is written. */
export function roomiest(decisions: Decisions, columns: Column[], frame: Span | null): Area[] {
  return decisions.regions.flatMap((_, region) => {
    const parts = decisions.columns.map((pieces) =>
      stretches(pieces)
        .filter((stretch) => stretch.region === region)
        .flatMap((stretch) => shown(stretch, frame) ?? []),
    );
    const best = parts.flatMap((spans, first) =>
      spans.flatMap((bytes) => widest(region, parts, columns, first, bytes)),
    );
    return best.sort((one, other) => size(other) - size(one)).slice(0, 1);
  });
}

const size = ({ ranks, bytes }: Area) => (ranks.high - ranks.low) * (bytes.high - bytes.low);

/** The largest rectangle that begins with a part of a column. */
function widest(region: number, parts: Span[][], columns: Column[], first: number, start: Span): Area[] {
  const low = columns[first]?.low;
  if (low === undefined) return [];
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
  return found.sort((one, other) => size(other) - size(one)).slice(0, 1);
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
  return decisions.regions.flatMap((_, region) => {
    const met = decisions.columns.flatMap((pieces, index) =>
      stretches(pieces)
        .filter((stretch) => stretch.region === region)
        .map(({ first, end }) => ({ ranks: columns[index]?.ranks ?? 0, first, end })),
    );
    if (met.length === 0) return [];
    const ranks = met.map((stretch) => stretch.ranks);
    const least = Math.min(...met.map(({ first }) => first));
    const most = Math.max(...met.map(({ end }) => end - 1));
    return [{ region, ranks: [Math.min(...ranks), Math.max(...ranks)], bytes: [least, most] }];
  });
}

/** A range of bytes in words. */
export function rangeText(least: number, most: number, text: (bytes: number) => string): string {
  if (most === Infinity) return least === 0 ? 'any number of bytes' : `${text(least)} and more`;
  return least === most ? text(least) : `${text(least)} to ${text(most)}`;
}
