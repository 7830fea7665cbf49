import type { CollectiveEntry } from '../core/types/CollectiveEntry';
import type { GridNeighbours } from '../core/types/GridNeighbours';

interface Neighbourhood extends GridNeighbours {
  title: string;
}

/** What the neighbours of each rank can be on a map; without any they are on a graph that is no grid. */
export const NEIGHBOURHOODS: Neighbourhood[] = [
  { neighbours: 0, dimensions: 0, title: 'on a graph that is no grid' },
  { neighbours: 2, dimensions: 1, title: '2, along 1 dimension' },
  { neighbours: 4, dimensions: 2, title: '4, along 2 dimensions' },
  { neighbours: 6, dimensions: 3, title: '6, along 3 dimensions' },
  { neighbours: 8, dimensions: 2, title: '8, around in 2 dimensions' },
  { neighbours: 26, dimensions: 3, title: '26, around in 3 dimensions' },
];

/** The grid of a map; null if there is none. */
export function gridOf({ has_grids }: CollectiveEntry, chosen: number): GridNeighbours | null {
  const found = NEIGHBOURHOODS.find(({ neighbours }) => has_grids && neighbours > 0 && neighbours === chosen);
  return found ? { neighbours: found.neighbours, dimensions: found.dimensions } : null;
}
