import { computed, type WritableComputedRef } from 'vue';

import { machineFromQuery, machineToQuery } from '../core/machine';
import type { MachineInput } from '../core/types/MachineInput';
import type { Link } from './use-link';

/** The machine that the link names. */
export function useMachine(link: Link, preset: () => string): WritableComputedRef<MachineInput> {
  return computed({
    get: () => machineFromQuery(link.query(), preset()),
    set: (machine) => link.change(machineToQuery(machine), true),
  });
}
