import type { CollectiveEntry } from '../core/types/CollectiveEntry';
import type { Decisions } from '../core/types/Decisions';
import type { ChosenParameters } from '../core/types/ChosenParameters';
import type { PricedCandidate } from '../core/types/PricedCandidate';
import type { Prices } from '../core/types/Prices';
import { stretchAt } from './areas';
import { spanOf, type Column, type Frame, type Point, type Span } from './scale';

/** Powers of four; all lengths that are priced. */
export const ATLAS_BYTES = Array.from({ length: 11 }, (_, power) => 4 ** (power + 1));

/**
 * The lengths that are priced of a collective. A barrier moves nothing; what a neighbourhood costs is a matter of its topology, so
 * none of its lengths is priced.
 */
export function pricedLengths({ name }: CollectiveEntry): number[] {
  if (name === 'barrier') return [0];
  return name.startsWith('neighbor_') ? [] : ATLAS_BYTES;
}

/** How far an atlas may go; the more ranks, the longer it takes. */
export const ATLAS_MOST_RANKS = [16, 32, 64, 128, 256];

const ATLAS_RANKS = [
  2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 256,
];

export const atlasRanks = (most: number) => ATLAS_RANKS.filter((ranks) => ranks <= most);

/** What was priced up to now, by ranks. */
export type Columns = ReadonlyMap<number, Prices>;

/** The height of a cell: the middle of its neighbours is a factor of two away. */
export const rowSpan = (bytes: number): Span => ({ low: Math.log2(bytes) - 1, high: Math.log2(bytes) + 1 });

/** What an atlas shows of so many lengths. */
export const atlasFrame = (columns: Column[], lengths: number[]): Frame => ({
  ranks: spanOf(columns),
  bytes:
    lengths.length > 1
      ? { low: rowSpan(lengths[0] ?? 1).low, high: rowSpan(lengths.at(-1) ?? 1).high }
      : null,
});

/** The length that is priced nearest to some bytes. */
export function pricedBytes(bytes: number): number {
  const power = Math.round(Math.log2(Math.max(bytes, 1)) / 2);
  return 4 ** Math.min(Math.max(power, 1), ATLAS_BYTES.length);
}

/** A candidate and its time at some point. */
export interface Timed {
  candidate: PricedCandidate;
  seconds: number;
}

/** The candidates that serve a length, the fastest first; each algorithm once, with its best parameters. */
export function ranking(prices: Prices, row: number): Timed[] {
  const timed = prices.candidates.flatMap((candidate) => {
    const seconds = candidate.seconds[row];
    return seconds == null ? [] : [{ candidate, seconds }];
  });
  const best = new Map<string, Timed>();
  for (const entry of timed) {
    const known = best.get(entry.candidate.algorithm);
    if (!known || entry.seconds < known.seconds) best.set(entry.candidate.algorithm, entry);
  }
  return [...best.values()].sort((one, other) => one.seconds - other.seconds);
}

/** The row of the prices that a point has; collectives without bytes have but one. */
export const rowOf = (bytes: number) => Math.max(0, ATLAS_BYTES.indexOf(bytes));

/** What the rules choose at a point, priced. `isExact` is false where these parameters were not priced. */
export interface RulesChoice extends Timed {
  isExact: boolean;
  /** How much longer it takes than the fastest. */
  factor: number;
}

const same = (one: ChosenParameters, other: ChosenParameters) =>
  one.radix === other.radix && one.segment === other.segment && one.window === other.window;

/** What the rules choose at a point, by the model; undefined where that was not priced. */
export function rulesChoice(
  decisions: Decisions,
  columns: Column[],
  point: Point,
  prices: Prices,
): RulesChoice | undefined {
  const row = rowOf(point.bytes);
  const ranked = ranking(prices, row);
  const fastest = ranked[0];
  const stretch = stretchAt(decisions, columns, point);
  const region = stretch && decisions.regions[stretch.region];
  if (!fastest || !region?.algorithm) return undefined;
  const exact = prices.candidates.find(
    ({ algorithm, parameters }) => algorithm === region.algorithm && same(parameters, region.parameters),
  );
  const seconds = exact?.seconds[row];
  const timed =
    exact && seconds != null
      ? { candidate: exact, seconds }
      : ranked.find(({ candidate }) => candidate.algorithm === region.algorithm);
  if (!timed) return undefined;
  return { ...timed, isExact: timed.candidate === exact, factor: timed.seconds / fastest.seconds };
}

/** What is slower than the fastest by more is marked. */
export const SLOW = 1.2;
