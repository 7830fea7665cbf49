import { onScopeDispose, ref, watch } from 'vue';
import { useRoute, useRouter } from 'vue-router';

import type { CollectiveEntry } from '../core/types/CollectiveEntry';
import type { Preset } from '../core/types/Preset';
import { readState, writeState, type MapState } from './state';

/** How long a slider must rest before the address follows it, in milliseconds. */
const REST = 200;

/** What the reader chose on a collective's page, which the address keeps. */
export function useMapState(collective: () => CollectiveEntry, presets: Preset[]) {
  const route = useRoute();
  const router = useRouter();
  const read = () =>
    readState(
      route.query,
      presets,
      collective().algorithms.map(({ name }) => name),
    );
  const first = read();
  const state = ref<MapState>(first.state);
  const faults = ref(first.faults);
  let rest: ReturnType<typeof setTimeout> | undefined;
  let written = '';

  watch(
    () => [collective().name, route.path, route.query] as const,
    ([, path, query], [, before]) => {
      const isOwn = path === before && JSON.stringify(query) === written;
      if (route.name !== 'collective' || isOwn) return;
      clearTimeout(rest);
      written = '';
      const { state: said, faults: amiss } = read();
      state.value = said;
      faults.value = amiss;
    },
  );

  function write(): void {
    if (route.name !== 'collective') return;
    const query = writeState(state.value, presets);
    written = JSON.stringify(query);
    void router.replace({ query });
  }

  function change(part: Partial<MapState>): void {
    state.value = { ...state.value, ...part };
    faults.value = [];
    clearTimeout(rest);
    rest = setTimeout(write, REST);
  }

  onScopeDispose(() => clearTimeout(rest));
  return { state, faults, change };
}
