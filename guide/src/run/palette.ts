/** The colours of a picture. They are plain values, so that a picture that is saved needs no style sheet. */
export interface Palette {
  paper: string;
  ink: string;
  faint: string;
  grid: string;
  accent: string;
  onAccent: string;
  /** Of a rank's blocks where they are only outlined. */
  line(rank: number): string;
}

/** What is written on filled blocks, in either theme. */
export const FILLED_INK = '#111111';

const RANKS = 32;
const GOLDEN_ANGLE = 137.508;

/** A colour by lightness, chroma and hue as the eye sees them (OKLCH), as sRGB. */
function colour(lightness: number, chroma: number, hue: number): string {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  return `#${channels.map(channel).join('')}`;
}

function channel(linear: number): string {
  const bounded = Math.min(Math.max(linear, 0), 1);
  const encoded = bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055;
  return Math.round(encoded * 255)
    .toString(16)
    .padStart(2, '0');
}

/** Neighbouring ranks are far apart in hue, and those of close hues differ in lightness. */
const shades = (lightness: number[], chroma: number) =>
  Array.from({ length: RANKS }, (_, rank) =>
    colour(lightness[rank % lightness.length] ?? 0, chroma, 25 + rank * GOLDEN_ANGLE),
  );

const FILLS = shades([0.85, 0.76, 0.68], 0.12);
const DARK_LINES = shades([0.56, 0.48, 0.4], 0.14);

const of = (colours: string[], rank: number) => colours[rank % RANKS] ?? '';

/** The colour of a rank's blocks where they are filled; dark writing can be read on each of them. */
export function fill(rank: number): string {
  return of(FILLS, rank);
}

const LIGHT: Palette = {
  paper: '#ffffff',
  ink: '#1b1b1b',
  faint: '#6b6b6b',
  grid: '#d4d4d4',
  accent: '#1f5fa8',
  onAccent: '#ffffff',
  line: (rank) => of(DARK_LINES, rank),
};

const DARK: Palette = {
  paper: '#121212',
  ink: '#f0f0f0',
  faint: '#a8a8a8',
  grid: '#484848',
  accent: '#8ab8f0',
  onAccent: '#111111',
  line: fill,
};

export function paletteOf(isDark: boolean): Palette {
  return isDark ? DARK : LIGHT;
}
