import { ref } from 'vue';

import { messageOf } from './message';

/** What the banner below the app bar says; empty where it is not shown. */
export const notice = ref('');

/** Tells the reader what went wrong where no component has a better place for it. */
export function notify(reason: unknown): void {
  notice.value = messageOf(reason);
}
