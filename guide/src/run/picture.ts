import type { Value } from '../core/types/Value';
import { FILLED_INK, type Palette } from './palette';
import type { ShownBlock } from './states';

/** Sizes of a buffer's picture, in its own units. */
export interface Sizes {
  column: number;
  row: number;
  /** Room for the numbers of blocks and for the names of ranks. */
  left: number;
  top: number;
}

const LETTER = 6.6;
const NARROWEST = 34;
const MANY_ROWS = 16;

/** Columns as wide as the longest label demands. */
export function sizesFor(labels: string[], rows: number): Sizes {
  const longest = Math.max(0, ...labels.map((label) => label.length));
  return {
    column: Math.max(NARROWEST, Math.ceil(longest * LETTER + 18)),
    row: rows > MANY_ROWS ? 22 : 28,
    left: 26,
    top: 22,
  };
}

export type Shape = 'idle' | 'ready' | 'chip' | 'hexagon';

/** The shape tells a block's state, as colour alone would not do for everybody. */
export function shapeOf({ written, isRead }: Pick<ShownBlock, 'written' | 'isRead'>): Shape {
  if (written === 'reduced') return 'hexagon';
  if (written !== null) return 'chip';
  return isRead ? 'ready' : 'idle';
}

/** The outline of a shape around the origin. */
export function outline(shape: Shape, width: number, height: number): string {
  const [x, y] = [width / 2, height / 2];
  if (shape === 'hexagon') {
    const slant = Math.min(0.7 * y, x / 3);
    return `M${-x} 0L${slant - x} ${-y}H${x - slant}L${x} 0L${x - slant} ${y}H${slant - x}Z`;
  }
  if (shape === 'idle') {
    const straight = width - height;
    return `M${y - x} ${-y}h${straight}a${y} ${y} 0 0 1 0 ${height}h${-straight}a${y} ${y} 0 0 1 0 ${-height}Z`;
  }
  return `M${-x} ${-y}h${width}v${height}h${-width}Z`;
}

/** How a block is drawn besides its colours; the outline of what is about to move is thick and broken. */
export function styleOf(shape: Shape, isRead: boolean, palette: Palette) {
  const isFilled = shape === 'chip' || shape === 'hexagon';
  return {
    outline: {
      'fill-opacity': isFilled ? 1 : 0.18,
      'stroke-width': isRead ? 3 : 1.5,
      'stroke-dasharray': isRead ? '5 3' : undefined,
    },
    ink: isFilled ? FILLED_INK : palette.ink,
  };
}

/** The name of the stripes of all ranks that have contributed to a value, within a picture. */
export function stripesName(picture: string, { ranks }: Value): string {
  return `${picture}-${[...new Set(ranks)].sort((one, other) => one - other).join('-')}`;
}

/** Stops of a gradient with hard edges: one stripe for each rank. */
export function stripes(
  ranks: number[],
  colour: (rank: number) => string,
): { offset: number; colour: string }[] {
  const distinct = [...new Set(ranks)].sort((one, other) => one - other);
  return distinct.flatMap((rank, place) => [
    { offset: place / distinct.length, colour: colour(rank) },
    { offset: (place + 1) / distinct.length, colour: colour(rank) },
  ]);
}
