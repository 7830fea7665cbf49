import { computed } from 'vue';

import type { CollectiveEntry } from '../core/types/CollectiveEntry';
import type { Preset } from '../core/types/Preset';
import { useLink } from '../run/use-link';
import { readState, writeState, type MapState } from './state';

/** What the reader chose on a collective's page, which the link keeps. */
export function useMapState(collective: () => CollectiveEntry, presets: Preset[]) {
  const link = useLink();
  const read = computed(() => readState(link.query(), presets, collective()));
  const state = computed(() => read.value.state);

  /** What the link said amiss goes with the change. */
  function change(part: Partial<MapState>): void {
    const nothing = Object.fromEntries(Object.keys(link.query()).map((key) => [key, undefined]));
    link.change({ ...nothing, ...writeState({ ...state.value, ...part }, presets) }, true);
  }

  return { state, faults: computed(() => read.value.faults), change };
}
