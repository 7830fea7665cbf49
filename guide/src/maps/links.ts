import type { LocationQueryRaw, RouteLocationRaw } from 'vue-router';

import { findAlgorithm } from '../core/catalog';
import type { ChosenParameters } from '../core/types/ChosenParameters';
import type { CollectiveEntry } from '../core/types/CollectiveEntry';
import { FEWEST_RANKS, MOST_RANKS, MOST_SEGMENTS } from '../core/types/limits';
import type { Point } from './scale';

/** The number of ranks nearest to some that can be drawn. */
export const drawnRanks = (ranks: number) => Math.min(Math.max(ranks, FEWEST_RANKS), MOST_RANKS);

/** The page of an algorithm as it was chosen for a call, as far as that can be drawn. */
export function algorithmLink(
  collective: CollectiveEntry,
  algorithm: string,
  parameters: ChosenParameters,
  point: Point,
  ranksPerNode: number,
): RouteLocationRaw {
  const controls = findAlgorithm(collective, algorithm)?.controls ?? [];
  const ranks = drawnRanks(point.ranks);
  const query: LocationQueryRaw = { p: ranks };
  const { radix, segment, window } = parameters;
  if (radix !== null && controls.includes('radix')) query.r = Math.max(2, Math.min(radix, ranks));
  if (segment !== null && segment > 0 && controls.includes('segments')) {
    query.segments = Math.min(MOST_SEGMENTS, Math.max(1, Math.ceil(point.bytes / segment)));
  }
  if (window !== null && controls.includes('window')) query.window = Math.min(window, MOST_RANKS);
  if (controls.includes('ranks_per_node')) query.ranks_per_node = Math.min(ranksPerNode, ranks);
  return { path: `/${collective.name}/${algorithm}`, query };
}
