import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { RUSTCOLL } from './environment.ts';
import { expect, test } from './fixtures.ts';

test('breadcrumbs tell where one is and lead back', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8');
  const crumbs = page.getByRole('navigation', { name: 'Where you are' });
  await expect(crumbs).toContainText('bruck');
  await expect(page).toHaveTitle('bruck · alltoall · rustcoll guide');
  await crumbs.getByRole('link', { name: 'alltoall' }).click();
  await expect(page).toHaveURL(/\/alltoall$/);
  await crumbs.getByRole('link', { name: 'rustcoll guide' }).click();
  await expect(page).toHaveTitle('rustcoll guide');
});

test('an algorithm’s other name leads to its own, and keeps what the link says', async ({ page }) => {
  await page.goto('/bcast/pipeline?p=5');
  await expect(page).toHaveURL(/\/bcast\/chain\?.*p=5/);
});

test('unknown addresses say what is wrong and lead on', async ({ page }) => {
  for (const [path, message] of [
    ['/altoall', 'There is no collective named “altoall”.'],
    ['/alltoall/brook', 'MPI_Alltoall has no algorithm named “brook”.'],
    ['/alltoall/bruck/3', 'There is no such page.'],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole('heading', { name: message })).toBeVisible();
  }
  await page.getByRole('link', { name: 'All collectives and their algorithms' }).click();
  await expect(page.getByRole('heading', { name: 'How collectives move data' })).toBeVisible();
});

test('colours follow the system until they are chosen, and the choice is remembered', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/');
  await page.getByRole('button', { name: 'Light colours' }).click();
  await expect(page.locator('.v-theme--light').first()).toBeVisible();
  await page.reload();
  await expect(page.getByRole('button', { name: 'Dark colours' })).toBeVisible();
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await expect(page.getByRole('button', { name: 'Light colours' })).toBeVisible();
  await page.emulateMedia({ colorScheme: 'light' });
  await expect(page.getByRole('button', { name: 'Dark colours' })).toBeVisible();
});

test('the first key leads past the bar', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('link', { name: /MPI_Alltoall / })).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
});

test('something is painted before the program has made the page', async ({ page }) => {
  await page.addInitScript(() => {
    const isShell = (node: Node) => node instanceof Element && node.matches('.shell');
    const isGone = ({ removedNodes }: MutationRecord) => [...removedNodes].some(isShell);
    new MutationObserver((changes) => {
      if (changes.some(isGone)) performance.mark('made');
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'How collectives move data' })).toBeVisible();
  const times = await page.evaluate(() =>
    ['first-contentful-paint', 'made'].map((name) => performance.getEntriesByName(name)[0]?.startTime ?? NaN),
  );
  expect(times[0]).toBeLessThan(times[1] ?? NaN);
});

test('the exported guide opens as a file', async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'guide-'));
  execFileSync(resolve('..', RUSTCOLL), ['guide', '--export', folder]);
  const address = pathToFileURL(join(folder, 'index.html')).href;
  await page.goto(address);
  await page.getByRole('link', { name: /MPI_Alltoall / }).click();
  await expect(page).toHaveURL(`${address}#/alltoall`);
  await page.goto(`${address}#/alltoall/bruck?p=8`);
  await expect(page).toHaveTitle('bruck · alltoall · rustcoll guide');
});
