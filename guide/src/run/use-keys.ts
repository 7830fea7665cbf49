import { onMounted, onUnmounted } from 'vue';

import type { Player } from './use-player';

/** What the keys do, for the help. */
export const KEYS: [string, string][] = [
  ['→', 'one step on'],
  ['←', 'one step back'],
  ['Space', 'play or stop'],
  ['Home', 'to the beginning'],
  ['End', 'to the end'],
  ['+', 'faster'],
  ['−', 'slower'],
  ['?', 'this help'],
];

/** What has a use of its own for these keys: fields, and what arrows scroll. */
const KEEPS_KEYS =
  'input, textarea, select, [contenteditable], [role="slider"], [role="listbox"], [role="dialog"], [role="group"][tabindex]';
const ACTIVATED_BY_SPACE = 'button, a, summary, label';

/** Lets keys step through a run, unless they belong to a field. */
export function useKeys(player: Player, showHelp: () => void): void {
  const actions: Record<string, () => void> = {
    ArrowRight: player.forward,
    ArrowLeft: player.back,
    ' ': () => (player.isPlaying.value ? player.stop() : player.play()),
    Home: () => player.go(0),
    End: () => player.go(player.length.value),
    '+': player.faster,
    '-': player.slower,
    '?': showHelp,
  };

  function press(event: KeyboardEvent): void {
    const target = event.target instanceof Element ? event.target : document.body;
    const action = actions[event.key];
    if (!action || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (target.closest(KEEPS_KEYS) || (event.key === ' ' && target.closest(ACTIVATED_BY_SPACE))) return;
    event.preventDefault();
    action();
  }

  onMounted(() => addEventListener('keydown', press));
  onUnmounted(() => removeEventListener('keydown', press));
}
