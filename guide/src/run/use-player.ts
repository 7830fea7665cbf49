import { computed, onScopeDispose, ref, watch, type ComputedRef, type Ref } from 'vue';

import { GuideError } from '../core/client';
import { faultsOf, said, wholeNumber } from './problem-link';
import type { Link } from './use-link';

/** Steps a second. */
export const SPEEDS = [0.5, 1, 2, 4, 8];

const USUAL_SPEED = 1;

export interface Player {
  /** How many steps have been made. */
  step: ComputedRef<number>;
  length: ComputedRef<number>;
  isPlaying: Ref<boolean>;
  speed: Ref<number>;
  /** What is wrong with the step and the speed that the link names. */
  faults: ComputedRef<string[]>;
  go(step: number): void;
  forward(): void;
  back(): void;
  play(): void;
  stop(): void;
  reset(): void;
  faster(): void;
  slower(): void;
}

/** The speed that a link says. Fails if there is no such one. */
function speedOf(text: string): number {
  const speed = SPEEDS.find((one) => String(one) === text);
  if (speed !== undefined) return speed;
  throw new GuideError(`speed ${text || '(nothing)'}: expected one of ${SPEEDS.join(', ')}`, 'speed');
}

/**
 * Steps through a run of so many steps (null while it is not known); where one stands is in the link. It stops playing when
 * another run is asked for, which is told by `about`.
 */
export function usePlayer(
  link: Link,
  steps: () => number | null,
  about: () => string = () => String(steps()),
): Player {
  const isPlaying = ref(false);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const saidStep = computed(() => said(link.query(), 'step'));
  const saidSpeed = computed(() => said(link.query(), 'speed'));
  const length = computed(() => steps() ?? 0);
  const step = computed(() => {
    const isNumber = /^\d{1,9}$/.test(saidStep.value ?? '');
    return isNumber ? Math.min(Number(saidStep.value), length.value) : 0;
  });
  const speed = computed({
    get: () => SPEEDS.find((one) => String(one) === saidSpeed.value) ?? USUAL_SPEED,
    set: (chosen) => link.change({ speed: chosen === USUAL_SPEED ? undefined : String(chosen) }, true),
  });

  const faults = computed(() => {
    const most = steps();
    const checks: (() => unknown)[] = [];
    const [step, speed] = [saidStep.value, saidSpeed.value];
    if (step !== undefined && most !== null) checks.push(() => wholeNumber(step, 'step', 'step', 0, most));
    if (speed !== undefined) checks.push(() => speedOf(speed));
    return faultsOf(checks);
  });

  function go(to: number): void {
    if (steps() === null) return;
    const place = Math.min(Math.max(to, 0), length.value);
    link.change({ step: place === 0 ? undefined : String(place) }, true);
  }

  function stop(): void {
    isPlaying.value = false;
    clearTimeout(timer);
  }

  function next(): void {
    timer = setTimeout(() => {
      go(step.value + 1);
      if (step.value < length.value) next();
      else stop();
    }, 1000 / speed.value);
  }

  function play(): void {
    stop();
    if (length.value === 0) return;
    if (step.value === length.value) go(0);
    isPlaying.value = true;
    next();
  }

  function changeSpeed(by: number): void {
    const place = SPEEDS.indexOf(speed.value) + by;
    speed.value = SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)] ?? USUAL_SPEED;
  }

  watch(about, stop, { flush: 'sync' });
  onScopeDispose(stop);
  return {
    step,
    length,
    isPlaying,
    speed,
    faults,
    go,
    forward: () => go(step.value + 1),
    back: () => go(step.value - 1),
    play,
    stop,
    reset() {
      stop();
      go(0);
    },
    faster: () => changeSpeed(1),
    slower: () => changeSpeed(-1),
  };
}
