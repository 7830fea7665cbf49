import { readFileSync } from 'node:fs';

import type { Page } from '@playwright/test';

import { expect, test } from './fixtures.ts';

const BOOK = readFileSync('../docs/guide.md', 'utf8');

/** The keys of the page of one's own schedule, which takes unknown ones without a word. */
const OWN = ['text', 'root', 'in_place', 'ordered', 'n', 'step', 'speed'];

/** The keys that a page says it has. */
async function keysOf(page: Page, path: string): Promise<string[]> {
  await page.goto(`${path}?nonsense=1`);
  const said = await page
    .getByRole('alert')
    .getByText(/^nonsense: /)
    .textContent();
  const listed = /(?:it has|one of) (.*)$/.exec(said?.trim() ?? '')?.[1] ?? '';
  return listed.split(', ');
}

test('the book has the keys of all pages', async ({ page }) => {
  const keys = new Set(OWN);
  for (const path of ['/alltoall/bruck', '/alltoall/compare', '/neighbor_alltoall']) {
    for (const key of await keysOf(page, path)) keys.add(key.replace(/^[ab]_/, ''));
  }
  const table = BOOK.slice(BOOK.indexOf('The keys of an address')).split('\n\n')[1] ?? '';
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '');
  const told = new Set(cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, key]) => key ?? '')));
  expect([...told].sort()).toEqual([...keys].sort());
});
