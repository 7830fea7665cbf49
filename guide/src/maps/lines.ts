import type { Prices } from '../core/types/Prices';
import { ranking, rowOf, type Columns } from './atlas';

/** The times of an algorithm along an axis; null where it does not serve. */
export interface Line {
  algorithm: string;
  seconds: (number | null)[];
}

/** A place on an axis: what was priced there, and in which row. */
interface Place {
  prices: Prices | undefined;
  row: number;
}

function along(algorithms: string[], places: Place[]): Line[] {
  const times = places.map(
    ({ prices, row }) =>
      new Map(
        prices ? ranking(prices, row).map(({ candidate, seconds }) => [candidate.algorithm, seconds]) : [],
      ),
  );
  return algorithms
    .map((algorithm) => ({ algorithm, seconds: times.map((time) => time.get(algorithm) ?? null) }))
    .filter(({ seconds }) => seconds.some((time) => time !== null));
}

/** Against ranks, at some bytes. */
export function againstRanks(columns: Columns, algorithms: string[], ranks: number[], bytes: number): Line[] {
  return along(
    algorithms,
    ranks.map((number) => ({ prices: columns.get(number), row: rowOf(bytes) })),
  );
}

/** Against bytes, on some ranks. */
export function againstBytes(columns: Columns, algorithms: string[], bytes: number[], ranks: number): Line[] {
  return along(
    algorithms,
    bytes.map((number) => ({ prices: columns.get(ranks), row: rowOf(number) })),
  );
}
