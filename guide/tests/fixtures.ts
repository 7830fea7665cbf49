import { expect, test as base } from '@playwright/test';

/** A page that fails its test if a script of it does, or if it asks anything of the network but itself. */
export const test = base.extend({
  page: async ({ page, baseURL }, use) => {
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      // That an unknown page has the status of one is no fault.
      const isStatus = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isStatus) faults.push(message.text());
    });
    page.on('request', (request) => {
      const ours = [baseURL ?? '', 'file:', 'data:', 'blob:'];
      if (!ours.some((start) => request.url().startsWith(start))) faults.push(`asks for ${request.url()}`);
    });
    await use(page);
    expect(faults).toEqual([]);
  },
});

export { expect };
