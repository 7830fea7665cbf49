const POWERS = [1, 2, 4, 8, 16, 32, 64, 128];

/** The numbers of ranks on a node that one can choose from: powers of two, and what is chosen already. */
export function nodeSizes(chosen: number): number[] {
  return [...new Set([...POWERS, chosen])].sort((one, other) => one - other);
}
