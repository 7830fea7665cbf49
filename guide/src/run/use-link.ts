import { computed, inject, onScopeDispose, provide, shallowRef, watch, type InjectionKey } from 'vue';
import { useRoute, useRouter, type LocationQuery } from 'vue-router';

/** What changes in a link; a key that is undefined goes. */
export type LinkChange = Record<string, string | undefined>;

/** Browsers refuse to change the address too often. */
const PAUSE = 200;

export interface Link {
  /** What the address says, or will say as soon as the changes under way are in it. */
  query(): LocationQuery;
  /** Changes the address without a new entry in the history; `later` lets quick changes gather. */
  change(changes: LinkChange, later?: boolean): void;
  /** Ends when all changes are in the address. */
  settle(): Promise<void>;
}

const LINK: InjectionKey<Link> = Symbol('link');

/** The link of the page that is shown. */
export function useLink(): Link {
  const route = useRoute();
  const router = useRouter();
  const gathered = shallowRef<LinkChange>({});
  let timer: ReturnType<typeof setTimeout> | undefined;

  const query = computed(() => {
    const changed: Record<string, unknown> = { ...route.query, ...gathered.value };
    const kept = Object.entries(changed).filter(([, value]) => value !== undefined);
    return Object.fromEntries(kept) as LocationQuery;
  });

  function drop(): void {
    clearTimeout(timer);
    gathered.value = {};
  }

  async function settle(): Promise<void> {
    clearTimeout(timer);
    const written = gathered.value;
    if (Object.keys(written).length === 0) return;
    await router.replace({ query: query.value, hash: route.hash });
    if (gathered.value === written) drop();
  }

  watch(() => route.path, drop, { flush: 'sync' });
  onScopeDispose(drop);
  const link: Link = {
    query: () => query.value,
    change(changes, later = false) {
      gathered.value = { ...gathered.value, ...changes };
      clearTimeout(timer);
      timer = setTimeout(() => void settle(), later ? PAUSE : 0);
    },
    settle,
  };
  provide(LINK, link);
  return link;
}

/** The link of the page that a component is on, if that page has one. */
export function useLinkOfPage(): Link | undefined {
  return inject(LINK, undefined);
}
