import type { Catalog } from './types/Catalog';
import type { CollectiveEntry } from './types/CollectiveEntry';

/** Something that a name leads to. */
export interface Found {
  title: string;
  /** The name that was searched for. */
  name: string;
  /** Whether that is another name than the one under which it is shown. */
  isAlias: boolean;
  isCollective: boolean;
  to: string;
}

/** The form in which names are compared: `MPI_Reduce-Scatter` is `reduce_scatter`. */
const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/^mpi_/, '');

/** The collectives and algorithms whose names contain a text: collectives first, then what begins with it. */
export function search(catalog: Catalog, text: string): Found[] {
  const wanted = plain(text.trim());
  if (wanted === '') return [];
  const found = catalog.collectives.flatMap((collective) => within(collective, wanted));
  const order = ({ name, isCollective }: Found) =>
    isCollective ? 0 : plain(name).startsWith(wanted) ? 1 : 2;
  return found.toSorted((one, other) => order(one) - order(other));
}

function within(collective: CollectiveEntry, wanted: string): Found[] {
  const to = `/${collective.name}`;
  const algorithms = collective.algorithms.flatMap((algorithm): Found[] => {
    const names = [algorithm.name, ...algorithm.aliases];
    const name = names.find((name) => plain(`${collective.name} ${name}`).includes(wanted));
    if (name === undefined) return [];
    const title = `${collective.name} ${algorithm.name}`;
    return [
      { title, name, isAlias: name !== algorithm.name, isCollective: false, to: `${to}/${algorithm.name}` },
    ];
  });
  if (!collective.name.includes(wanted)) return algorithms;
  return [
    { title: collective.mpi, name: collective.name, isAlias: false, isCollective: true, to },
    ...algorithms,
  ];
}
