/** The collectives by who sends to whom, in the order in which they are learnt. */
export const GROUPS: { title: string; collectives: string[] }[] = [
  { title: 'One to all', collectives: ['bcast', 'scatter'] },
  { title: 'All to one', collectives: ['gather', 'reduce'] },
  { title: 'All to all', collectives: ['allgather', 'alltoall', 'barrier'] },
  { title: 'Reductions for all', collectives: ['allreduce', 'reduce_scatter_block', 'reduce_scatter'] },
  { title: 'Scans', collectives: ['scan', 'exscan'] },
  {
    title: 'Blocks of different lengths',
    collectives: ['scatterv', 'gatherv', 'allgatherv', 'alltoallv', 'alltoallw'],
  },
  {
    title: 'Neighbourhoods',
    collectives: [
      'neighbor_allgather',
      'neighbor_allgatherv',
      'neighbor_alltoall',
      'neighbor_alltoallv',
      'neighbor_alltoallw',
    ],
  },
];

/** Deals entries into the groups; those that no group names come last. */
export function grouped<Entry extends { name: string }>(
  entries: Entry[],
): { title: string; entries: Entry[] }[] {
  const named = GROUPS.map(({ title, collectives }) => ({
    title,
    entries: collectives.flatMap((name) => entries.filter((entry) => entry.name === name)),
  }));
  const others = entries.filter((entry) => !named.some((group) => group.entries.includes(entry)));
  return [...named, { title: 'Others', entries: others }].filter((group) => group.entries.length > 0);
}
