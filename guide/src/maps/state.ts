import type { LocationQuery } from 'vue-router';

import { describedMachine, MACHINE_TIMES, machineFromQuery, machineToQuery } from '../core/machine';
import type { CollectiveEntry } from '../core/types/CollectiveEntry';
import { MOST_RANKS_PER_NODE, MOST_SECONDS } from '../core/types/limits';
import type { MachineInput } from '../core/types/MachineInput';
import type { Preset } from '../core/types/Preset';
import { said } from '../run/problem-link';
import type { LinkChange } from '../run/use-link';
import { ATLAS_BYTES, ATLAS_MOST_RANKS, atlasRanks } from './atlas';
import { NEIGHBOURHOODS } from './neighbours';

/** What the plot has across. */
export type Across = 'p' | 'n';

/** All that a reader can choose on a collective's page; `machine.ranks_per_node` holds for the rules as well. */
export interface MapState {
  machine: MachineInput;
  /** The most ranks of the atlas. */
  most: number;
  /** Whether the atlas tries several values of parameters. */
  sweep: boolean;
  /** Whether the atlas marks where the rules choose what is slow. */
  overlay: boolean;
  plot: Across;
  /** The number of ranks of the plot against bytes. */
  p: number;
  /** The bytes of the plot against ranks. */
  n: number;
  /** The neighbours of each rank on a grid, for rules; 0 on a graph that is no grid. */
  neighbours: number;
  /** The algorithms that the plot does not show. */
  hidden: string[];
}

export const DEFAULTS = { most: 32, plot: 'p', p: 16, n: 1024, neighbours: 4 } as const;

const NEIGHBOURS = NEIGHBOURHOODS.map(({ neighbours }) => neighbours);

/** What a link may say. */
const KEYS = [
  'machine',
  ...MACHINE_TIMES.map(({ name }) => name),
  ...['ranks_per_node', 'most', 'sweep', 'overlay', 'plot', 'p', 'n', 'hide'],
];

const keysOf = ({ has_grids }: CollectiveEntry) => (has_grids ? [...KEYS, 'neighbours'] : KEYS);

/** Reads a link of a collective; what it says amiss has its default, and a message. */
export function readState(
  query: LocationQuery,
  presets: Preset[],
  collective: CollectiveEntry,
): { state: MapState; faults: string[] } {
  const keys = keysOf(collective);
  const unknown = Object.keys(query).filter((key) => !keys.includes(key));
  const faults = unknown.map((key) => `${key}: expected one of ${keys.join(', ')}`);
  const algorithms = collective.algorithms.map(({ name }) => name);
  const text = (key: string) => said(query, key);
  /** One of some values; the default if the link has none of them, which is said. */
  const oneOf = <Value extends string | number>(key: string, values: readonly Value[], otherwise: Value) => {
    const given = text(key);
    if (given === undefined) return otherwise;
    const value = values.find((value) => String(value) === given);
    if (value === undefined) faults.push(`${key} ${given}: expected ${values.join(', ')}`);
    return value ?? otherwise;
  };
  const named = (text('hide') ?? '').split(',').filter((name) => name !== '');
  const strange = named.filter((name) => !algorithms.includes(name));
  if (strange.length > 0) faults.push(`hide ${strange.join(',')}: expected some of ${algorithms.join(', ')}`);
  const most = oneOf('most', ATLAS_MOST_RANKS, DEFAULTS.most);
  const machine = readMachine(query, presets, faults);
  const state: MapState = {
    machine,
    most,
    sweep: oneOf('sweep', ['1', '0'], '0') === '1',
    overlay: oneOf('overlay', ['1', '0'], '0') === '1',
    plot: oneOf('plot', ['p', 'n'], DEFAULTS.plot),
    p: oneOf('p', atlasRanks(most), DEFAULTS.p),
    n: oneOf('n', ATLAS_BYTES, DEFAULTS.n),
    neighbours: collective.has_grids
      ? oneOf('neighbours', NEIGHBOURS, DEFAULTS.neighbours)
      : DEFAULTS.neighbours,
    hidden: named.filter((name) => algorithms.includes(name)),
  };
  return { state, faults };
}

function readMachine(query: LocationQuery, presets: Preset[], faults: string[]): MachineInput {
  const usual = presets[0]?.name ?? '';
  const machine = machineFromQuery(query, usual);
  if (!presets.some(({ name }) => name === machine.preset)) {
    faults.push(`machine ${machine.preset}: expected ${presets.map(({ name }) => name).join(', ')}`);
    machine.preset = usual;
  }
  for (const { name } of MACHINE_TIMES) {
    if (query[name] === undefined) continue;
    const time = machine[name];
    if (time !== undefined && time >= 0 && time <= MOST_SECONDS) continue;
    faults.push(`${name} ${String(query[name])}: expected seconds from 0 to ${MOST_SECONDS}`);
    delete machine[name];
  }
  delete machine.ranks_per_node;
  const given = query.ranks_per_node;
  if (given === undefined) return machine;
  const sharing = Number(given);
  if (Number.isInteger(sharing) && sharing >= 1 && sharing <= MOST_RANKS_PER_NODE) {
    return { ...machine, ranks_per_node: sharing };
  }
  faults.push(`ranks_per_node ${String(given)}: expected a number from 1 to ${MOST_RANKS_PER_NODE}`);
  return machine;
}

/** The link of a state; what has its default is left out. */
export function writeState(state: MapState, presets: Preset[]): LinkChange {
  const { machine, most, sweep, overlay, plot, p, n, neighbours, hidden } = state;
  const { machine: preset, ...times } = machineToQuery({ ...machine, ranks_per_node: undefined });
  const unless = <Value>(value: Value, usual: Value) => (value === usual ? undefined : String(value));
  return {
    machine: unless(preset, presets[0]?.name),
    ...times,
    ranks_per_node: machine.ranks_per_node?.toString(),
    most: unless(most, DEFAULTS.most),
    sweep: sweep ? '1' : undefined,
    overlay: overlay ? '1' : undefined,
    plot: unless<Across>(plot, DEFAULTS.plot),
    p: unless<number>(p, DEFAULTS.p),
    n: unless<number>(n, DEFAULTS.n),
    neighbours: unless<number>(neighbours, DEFAULTS.neighbours),
    hide: hidden.length > 0 ? hidden.join(',') : undefined,
  };
}

/** How many ranks share a node, for rules and machine alike. */
export function ranksPerNode(machine: MachineInput, presets: Preset[]): number {
  return describedMachine(presets, machine)?.ranks_per_node ?? 1;
}

/** Whether messages between nodes go by TCP, for rules. */
export function goesByTcp(machine: MachineInput, presets: Preset[]): boolean {
  return describedMachine(presets, machine)?.tcp ?? false;
}
