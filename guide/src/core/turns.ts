/** Of tasks that overlap only the latest counts: each begins a turn, and asks in the end whether it still has it. */
export function turns(): () => () => boolean {
  let latest = 0;
  return () => {
    const turn = ++latest;
    return () => turn === latest;
  };
}
