import type { AlgorithmEntry } from '../core/types/AlgorithmEntry';
import type { Trace } from '../core/types/Trace';
import type { Value } from '../core/types/Value';
import { PROBLEM_FIELDS } from './problem-link';
import type { ShownBlock } from './states';

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';

/** Bytes of an element; the picture's elements are those of `int` and `float`. */
export const ELEMENT_BYTES = 4;

const LONGEST_LABEL = 9;
const LONGEST_EXPRESSION = 18;

/** More ranks have expressions that are too long for blocks. */
const RANKS_WITH_EXPRESSIONS = 5;

export function subscript(number: number): string {
  return String(number).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)] ?? digit);
}

/** The operands of a reduced value as they were combined: `(0 ⊕ 1) ⊕ 2`. */
function expressionOf({ text }: Value): string {
  return text.replace(/^block \d+ of /, '');
}

/** What stands in a block: whose contributions it holds, and below the line which block of theirs. */
export function labelOf(value: Value, ranks: number): string {
  const expression = expressionOf(value);
  const isShort = ranks <= RANKS_WITH_EXPRESSIONS && expression.length <= LONGEST_EXPRESSION;
  if (value.origin === null && isShort) return `(${expression})${subscript(value.block)}`;
  const label =
    value.label.length > LONGEST_LABEL ? `${value.label.slice(0, LONGEST_LABEL - 1)}…` : value.label;
  return label + subscript(value.block);
}

const HOW = {
  given: 'its input',
  moved: 'just received',
  copied: 'just copied',
  reduced: 'just reduced',
} as const;

/** What a block holds and what happens to it, in words. */
export function describe(trace: Trace, block: ShownBlock): string {
  const buffer = trace.buffers[block.buffer]?.title ?? '';
  const value = trace.values[block.value];
  const states = [
    value ? value.text : 'nothing yet',
    block.written && HOW[block.written],
    block.isRead && 'about to be read',
  ];
  return `P${block.rank}, ${buffer.toLowerCase()}, block ${block.block}: ${states.filter(Boolean).join(', ')}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

export function bytesOf(blocks: number, elements: number): number {
  return blocks * elements * ELEMENT_BYTES;
}

/** An algorithm and the problem that it runs on: `bruck, 8 ranks, radix 2`. */
export function titleOf({ name, controls }: AlgorithmEntry, { problem }: Trace): string {
  const chosen = PROBLEM_FIELDS.filter(({ field }) => controls.includes(field)).flatMap(({ field }) => {
    const [words, value] = [field.replaceAll('_', ' '), problem[field]];
    if (value === null || value === false) return [];
    return value === true ? words : `${words} ${value}`;
  });
  return [name, `${problem.ranks} ranks`, ...chosen].join(', ');
}

/** What is said of a step to those who do not see it. */
export function announcement(trace: Trace, step: number): string {
  const made = trace.steps[step - 1];
  if (!made) return `The beginning of ${count(trace.steps.length, 'step')}.`;
  const blocks = trace.has_data ? `, ${count(made.blocks, 'block')}` : '';
  const happening = made.transfers.length
    ? `${count(made.transfers.length, 'message')}${blocks}.`
    : `${count(made.works.length, 'act')} of the ranks on their own.`;
  return `Step ${step} of ${trace.steps.length}: ${made.title}. ${happening}`;
}
