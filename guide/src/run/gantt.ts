import type { Span } from '../core/types/Span';
import type { SpanKind } from '../core/types/SpanKind';
import type { Timeline } from '../core/types/Timeline';

/** A rank's row has a lane for what leaves, one for its processor, and one for what arrives. */
export const LANES: Record<SpanKind, number> = { send: 0, work: 1, wait: 1, receive: 2 };

export interface Bar {
  rank: number;
  span: Span;
  /** Both in parts of the whole run. */
  start: number;
  length: number;
}

export function bars({ seconds, ranks }: Timeline): Bar[] {
  if (seconds <= 0) return [];
  return ranks.flatMap((spans, rank) =>
    spans.map((span) => ({
      rank,
      span,
      start: span.start / seconds,
      length: (span.end - span.start) / seconds,
    })),
  );
}

/** Round times from 0 on, some five of them. */
export function ticks(seconds: number): number[] {
  if (seconds <= 0) return [];
  const rough = seconds / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const distance = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? rough;
  return Array.from({ length: Math.floor(seconds / distance) + 1 }, (_, index) => index * distance);
}

/** How long each rank spends on each kind of thing. */
export function sums({ ranks }: Timeline): Record<SpanKind, number>[] {
  return ranks.map((spans) => {
    const sums: Record<SpanKind, number> = { send: 0, receive: 0, work: 0, wait: 0 };
    for (const { kind, start, end } of spans) sums[kind] += end - start;
    return sums;
  });
}
