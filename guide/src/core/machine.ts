import type { LocationQuery } from 'vue-router';

import { MOST_RANKS_PER_NODE } from './types/limits';
import type { MachineInput } from './types/MachineInput';
import type { Preset } from './types/Preset';

/** The times that describe a machine; all are seconds, or seconds for each byte. */
export type TimeName = 'latency' | 'byte_time' | 'reduce_time' | 'overhead' | 'gap';

export interface MachineTime {
  name: TimeName;
  title: string;
  hint: string;
  /** Range of the slider, as powers of ten; its lowest place stands for 0. */
  least: number;
  most: number;
  /** What is said of a value. */
  format(seconds: number): string;
}

export const MACHINE_TIMES: MachineTime[] = [
  {
    name: 'latency',
    title: 'α, latency',
    hint: 'what each message takes between nodes, however short',
    least: -8,
    most: -2,
    format: formatSeconds,
  },
  {
    name: 'byte_time',
    title: 'β, time for a byte',
    hint: 'what each byte of a message takes between nodes',
    least: -12,
    most: -6,
    format: formatByteTime,
  },
  {
    name: 'reduce_time',
    title: 'γ, time to reduce a byte',
    hint: 'what each byte of an operand takes',
    least: -12,
    most: -6,
    format: formatByteTime,
  },
  {
    name: 'overhead',
    title: 'o, overhead',
    hint: 'how long a message keeps its sender and its receiver busy',
    least: -9,
    most: -3,
    format: formatSeconds,
  },
  {
    name: 'gap',
    title: 'g, gap',
    hint: 'the least time between two messages of a rank',
    least: -9,
    most: -3,
    format: formatSeconds,
  },
];

/** The key of a machine's ranks per node in links; `ranks_per_node` is that of problems and of calls. */
export const RANKS_PER_NODE = 'per_node';

/** Three digits that mean something, without zeros at the end. */
function digits(number: number): string {
  return String(Number(number.toPrecision(3)));
}

/** Seconds in the unit that makes them readable: `1.5 µs`. */
export function formatSeconds(seconds: number): string {
  if (seconds === 0) return '0';
  const units: [number, string][] = [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
    [1e-9, 'ns'],
  ];
  const [scale, unit] = units.find(([scale]) => seconds >= scale * 0.9995) ?? [1e-12, 'ps'];
  return `${digits(seconds / scale)} ${unit}`;
}

/** Seconds for a byte, and what that is as a rate: `0.1 ns (10 GB/s)`. */
export function formatByteTime(seconds: number): string {
  if (seconds === 0) return '0';
  const rate = 1 / seconds;
  const [scale, unit] = rate >= 1e9 ? [1e9, 'GB/s'] : rate >= 1e6 ? [1e6, 'MB/s'] : [1e3, 'kB/s'];
  return `${formatSeconds(seconds)} (${digits(rate / scale)} ${unit})`;
}

/** The time of a place on the slider. */
export function timeAt(place: number, { least }: MachineTime): number {
  return place <= least ? 0 : Number((10 ** place).toPrecision(3));
}

/** The place of a time on the slider. */
export function placeOf(seconds: number, { least, most }: MachineTime): number {
  return seconds <= 0 ? least : Math.min(Math.max(Math.log10(seconds), least), most);
}

/** What is known of a machine: its preset, and over that what was changed. */
export function describedMachine(presets: Preset[], machine: MachineInput): Preset | undefined {
  const preset = presets.find(({ name }) => name === machine.preset);
  return preset && { ...preset, ...machine };
}

/** The keys of a machine in links. */
export function machineToQuery(machine: MachineInput): Record<string, string | undefined> {
  const times = MACHINE_TIMES.map(({ name }) => [name, machine[name]?.toString()]);
  return {
    machine: machine.preset,
    ...Object.fromEntries(times),
    [RANKS_PER_NODE]: machine.ranks_per_node?.toString(),
  };
}

/** The keys of a machine's numbers in links. */
export const MACHINE_NUMBERS: string[] = [...MACHINE_TIMES.map(({ name }) => name), RANKS_PER_NODE];

/** A number that a link says of a machine; null where it says none. */
function numberOf(query: LocationQuery, key: string): number | null {
  const text = query[key];
  const number = typeof text === 'string' && text !== '' ? Number(text) : NaN;
  const isOne =
    key === RANKS_PER_NODE
      ? Number.isInteger(number) && number >= 1 && number <= MOST_RANKS_PER_NODE
      : Number.isFinite(number);
  return isOne ? number : null;
}

/** What a link says of a machine and is no such number. */
export function machineFaults(query: LocationQuery): string[] {
  const wanted = (key: string) =>
    key === RANKS_PER_NODE ? `whole number from 1 to ${MOST_RANKS_PER_NODE}` : 'number';
  return MACHINE_NUMBERS.filter((key) => query[key] !== undefined && numberOf(query, key) === null).map(
    (key) => `${key} ${query[key] || '(nothing)'}: expected a ${wanted(key)}`,
  );
}

/** The machine that a link names, as far as it says numbers; whether there is such a one is for the library to say. */
export function machineFromQuery(query: LocationQuery, preset: string): MachineInput {
  const machine: MachineInput = { preset: typeof query.machine === 'string' ? query.machine : preset };
  for (const { name } of MACHINE_TIMES) {
    const time = numberOf(query, name);
    if (time !== null) machine[name] = time;
  }
  const sharing = numberOf(query, RANKS_PER_NODE);
  if (sharing !== null) machine.ranks_per_node = sharing;
  return machine;
}
