import { readFile } from 'node:fs/promises';

import { expectAccessible } from './accessibility.ts';
import { expect, test } from './fixtures.ts';
import { choose, exported, inputLabel, range, RunOnPage } from './run.ts';

const LINK = '/alltoall/compare?a=bruck&b=spread_out&a_p=8&a_r=2&b_p=8';

test('two algorithms are stepped together, and the shorter one stays at its end', async ({ page }) => {
  await page.goto(LINK);
  const first = new RunOnPage(page, page.getByRole('region', { name: 'First algorithm' }));
  const second = new RunOnPage(page, page.getByRole('region', { name: 'Second algorithm' }));
  await first.expectStep(0, 8);
  await first.button('Step').click();
  await first.button('Step').click();
  await expect(first.block('Scratch', 0, 9)).toHaveText(inputLabel(7, 0));
  await expect(second.block('Receive buffer', 0, 7)).toHaveText(inputLabel(7, 0));
  await page.keyboard.press('End');
  await first.expectStep(8, 8);
  for (const run of [first, second]) {
    for (const source of range(8)) {
      await expect(run.block('Receive buffer', 5, source)).toHaveText(inputLabel(source, 5));
    }
  }
  const totals = page.getByRole('table', { name: 'Up to now' });
  await expect(totals.getByRole('row', { name: 'Steps' })).toHaveText(/5 of 5\s*8 of 8/);
  await expect(totals.getByRole('row', { name: 'Messages' })).toHaveText(/24 of 24\s*56 of 56/);
  await expect(totals.getByRole('row', { name: 'Blocks' })).toHaveText(/96 of 96\s*56 of 56/);
});

test('each side has its own algorithm and parameters, and the link brings them back', async ({ page }) => {
  await page.goto(LINK);
  const first = page.getByRole('region', { name: 'First algorithm' });
  const second = page.getByRole('region', { name: 'Second algorithm' });
  await first.getByRole('spinbutton', { name: 'Radix' }).fill('3');
  await expect(page).toHaveURL(/a_r=3/);
  await choose(second.getByRole('combobox', { name: 'Second algorithm' }), 'pairwise');
  await expect(page).toHaveURL(/b=pairwise/);
  await second.getByRole('spinbutton', { name: 'Processes' }).fill('5');
  await page.keyboard.press('Tab');
  await new RunOnPage(page).button('Step').click();
  await expect(page).toHaveURL(/step=1/);
  await page.reload();
  await expect(first.getByRole('spinbutton', { name: 'Radix' })).toHaveValue('3');
  await expect(second.getByRole('spinbutton', { name: 'Processes' })).toHaveValue('5');
  await expect(second.getByRole('combobox', { name: 'Second algorithm' })).toHaveValue('pairwise');
  await expect(new RunOnPage(page).place).toHaveText(/^Step 1 of/);
});

test('another algorithm keeps the ranks of its side, and no other choice', async ({ page }) => {
  await page.goto('/alltoall/compare?a=bruck&b=bruck&a_p=4&a_r=2&b_p=8&b_r=3');
  await expect(new RunOnPage(page).place).toHaveText('Step 0 of 6');
  const first = page.getByRole('region', { name: 'First algorithm' });
  await choose(first.getByRole('combobox', { name: 'First algorithm' }), 'pairwise');
  await expect(page).toHaveURL(/compare\?a=pairwise&b=bruck&a_p=4&b_p=8&b_r=3$/);
  await expect(first.getByLabel('Verdict')).toContainText('is right');
  await expect(first.locator('svg[data-title="Send buffer"] g[data-rank]')).toHaveCount(16);
});

test('an algorithm stands beside itself, and the saved picture names both sides', async ({ page }) => {
  await page.goto('/alltoall/compare?a=bruck&b=bruck&p=4&a_r=2&b_r=3');
  const totals = page.getByRole('table', { name: 'Up to now' });
  await expect(totals).toContainText('First: bruck, 4 ranks, radix 2');
  await expect(totals).toContainText('Second: bruck, 4 ranks, radix 3');
  const download = await exported(page, 'Picture as SVG');
  const text = await readFile(await download.path(), 'utf8');
  expect(text.match(/First: bruck, 4 ranks, radix 2/g)).toHaveLength(1);
  expect(text.match(/Second: bruck, 4 ranks, radix 3/g)).toHaveLength(1);
});

test('one number of ranks may hold for both', async ({ page }) => {
  await page.goto('/alltoall/compare?a=bruck&b=pairwise&p=5');
  for (const name of ['First algorithm', 'Second algorithm']) {
    const side = page.getByRole('region', { name });
    await expect(side.getByRole('spinbutton', { name: 'Processes' })).toHaveValue('5');
    await expect(side.locator('svg[data-title="Send buffer"] g[data-rank]')).toHaveCount(25);
  }
});

test('bad links to two algorithms say what is wrong on which side', async ({ page }) => {
  await page.goto('/alltoall/compare?a=brook&b=bruck&b_r=1');
  await expect(page.getByRole('region', { name: 'First algorithm' })).toContainText(
    'MPI_Alltoall has no algorithm named “brook”',
  );
  await expect(page.getByRole('region', { name: 'Second algorithm' })).toContainText('radix 1: expected');
  await page.getByRole('button', { name: 'Take the defaults' }).click();
  await expect(new RunOnPage(page).place).toHaveText(/^Step 0 of [1-9]/);
});

test('one side that is refused leaves the other to be stepped', async ({ page }) => {
  await page.goto('/alltoall/compare?a=bruck&b=bruck&a_r=2&b_r=1&step=3');
  const first = new RunOnPage(page, page.getByRole('region', { name: 'First algorithm' }));
  await first.expectStep(3, 5);
  await expect(page.getByRole('region', { name: 'Second algorithm' })).toContainText('radix 1: expected');
  await first.button('Step').click();
  await first.expectStep(4, 5);
  await expect(page).toHaveURL(/step=4/);
  await page.locator('h1').click();
  await page.keyboard.press('ArrowLeft');
  await first.expectStep(3, 5);
});

test('one side’s defaults leave the ranks that hold for both', async ({ page }) => {
  await page.goto('/alltoall/compare?a=bruck&b=bruck&b_r=1&p=5');
  await page.getByRole('button', { name: 'Take the defaults' }).click();
  await expect(page).not.toHaveURL(/b_r/);
  await expect(page).toHaveURL(/p=5/);
  await expect(
    page
      .getByRole('region', { name: 'Second algorithm' })
      .locator('svg[data-title="Send buffer"] g[data-rank]'),
  ).toHaveCount(25);
});

test('an algorithm’s page leads here', async ({ page }) => {
  await page.goto('/alltoall/pairwise?p=5');
  await page.getByRole('link', { name: 'Side by side' }).click();
  await expect(page).toHaveURL(/alltoall\/compare\?.*a=pairwise/);
  await expect(page.getByRole('combobox', { name: 'First algorithm' })).toHaveValue('pairwise');
  await page.goto('/alltoall/bruck?p=9&r=3&step=2&n=2');
  await page.getByRole('link', { name: 'Side by side' }).click();
  await expect(page).toHaveURL(/compare\?a=bruck&a_r=3&p=9&n=2&step=2$/);
  const first = page.getByRole('region', { name: 'First algorithm' });
  await expect(first.getByRole('spinbutton', { name: 'Radix' })).toHaveValue('3');
  await expect(new RunOnPage(page).place).toHaveText(/^Step 2 of/);
});

test('axe finds nothing serious where two algorithms stand side by side', async ({ page }) => {
  await page.goto(`${LINK}&step=3`);
  await expect(new RunOnPage(page).place).toHaveText('Step 3 of 8');
  await expectAccessible(page);
});
