import { onScopeDispose, ref, shallowRef, watch } from 'vue';

import { GuideError, Library } from '../core/client';
import type { MachineInput } from '../core/types/MachineInput';
import type { Prices } from '../core/types/Prices';
import { atlasRanks, type Columns } from './atlas';

/** What is to be priced. */
export interface PricesWanted {
  collective: string;
  machine: MachineInput;
  most: number;
  sweep: boolean;
  bytes: number[];
}

/** How long a slider must rest before a new run starts, in milliseconds. */
const REST = 250;

/** Answers that take long: a worker of their own leaves the rest of the page free, and can be stopped. */
const library = new Library();

/** Prices one number of ranks after the other; another wish ends the run. */
export function usePrices(wanted: () => PricesWanted | null) {
  const columns = shallowRef<Columns>(new Map());
  const progress = ref(1);
  const fault = shallowRef<GuideError | null>(null);
  let run = 0;
  let rest: ReturnType<typeof setTimeout> | undefined;

  function end(): void {
    run += 1;
    clearTimeout(rest);
    if (library.isBusy) library.stop();
  }

  async function price(wish: PricesWanted, number: number): Promise<void> {
    const { collective, machine, sweep, bytes } = wish;
    const all = atlasRanks(wish.most);
    const found = new Map<number, Prices>();
    for (const ranks of all) {
      const prices = await library.ask('prices', { collective, machine, ranks, bytes, sweep });
      if (number !== run) return;
      found.set(ranks, prices);
      columns.value = new Map(found);
      progress.value = found.size / all.length;
    }
  }

  function start(wish: PricesWanted): void {
    const number = run;
    price(wish, number).catch((reason: unknown) => {
      if (number !== run) return;
      fault.value = reason instanceof GuideError ? reason : new GuideError(String(reason));
      progress.value = 1;
    });
  }

  watch(
    () => JSON.stringify(wanted()),
    (text) => {
      end();
      const wish = JSON.parse(text) as PricesWanted | null;
      fault.value = null;
      columns.value = new Map();
      progress.value = 1;
      if (!wish) return;
      progress.value = 0;
      rest = setTimeout(() => start(wish), REST);
    },
    { immediate: true },
  );
  onScopeDispose(end);
  return { columns, progress, fault };
}
