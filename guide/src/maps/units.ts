const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

/** Bytes in the largest unit that leaves a whole number: 1537 is `1537 B`, 2048 is `2 KiB`. */
export function bytesText(bytes: number): string {
  const unit = UNITS.findLastIndex((_, power) => bytes > 0 && bytes % 1024 ** power === 0);
  return `${bytes / 1024 ** Math.max(unit, 0)} ${UNITS[Math.max(unit, 0)]}`;
}
