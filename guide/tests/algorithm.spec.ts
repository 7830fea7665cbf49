import { readFile } from 'node:fs/promises';

import type { Locator } from '@playwright/test';

import type { Trace } from '../src/core/types/Trace.ts';
import { States } from '../src/run/states.ts';
import { expectAccessible } from './accessibility.ts';
import { expect, test } from './fixtures.ts';
import { choose, exportAs, exported, inputLabel, range, RunOnPage, subscript } from './run.ts';

test('bruck with radix 2 goes step by step to an all-to-all', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8&r=2');
  const run = new RunOnPage(page);
  await run.expectStep(0, 5);
  await expect(run.words).toContainText('Before the first step');
  await expect(run.block('Send buffer', 3, 5)).toHaveAttribute('data-shape', 'ready');
  expect(await run.labels('Receive buffer')).toEqual([]);

  await run.button('Step').click();
  await run.expectStep(1, 5);
  for (const rank of range(8)) {
    for (const distance of range(8)) {
      const block = run.block('Scratch', rank, distance);
      await expect(block).toHaveText(inputLabel(rank, (rank + distance) % 8));
      await expect(block).toHaveAttribute('data-shape', 'chip');
      // The first messages take the blocks whose distances are odd.
      const isRead = distance % 2 === 1;
      await expect(block.and(page.locator('[data-read]'))).toHaveCount(isRead ? 1 : 0);
    }
  }

  await run.button('Step').click();
  await run.expectTotal('Messages', 8, 8);
  await run.expectTotal('Blocks', 32, 32);
  await run.expectTotal('Bytes', 128, 128);
  await expect(run.words).toContainText('Round 1 of 3');
  for (const rank of range(8)) {
    await expect(run.message(rank, (rank + 1) % 8)).toHaveText(/4$/);
    await expect(run.message(rank, (rank + 1) % 8)).toHaveAttribute('data-now', 'true');
    const source = (rank + 7) % 8;
    for (const distance of [1, 3, 5, 7]) {
      await expect(run.block('Scratch', rank, 8 + distance)).toHaveText(
        inputLabel(source, (source + distance) % 8),
      );
    }
  }

  await run.button('Step').click();
  await run.expectTotal('Messages', 8, 16);
  await expect(run.message(0, 1)).toHaveText(/1$/);
  await expect(run.message(0, 1)).not.toHaveAttribute('data-now');
  await expect(run.message(0, 2)).toHaveAttribute('data-now', 'true');

  await page.keyboard.press('End');
  await run.expectStep(5, 5);
  await expect(run.button('Step')).toBeDisabled();
  const expected = range(8).flatMap((rank) => range(8).map((source) => inputLabel(source, rank)));
  await expect(run.panel('Receive buffer').locator('g[data-rank]')).toHaveCount(64);
  expect(await run.labels('Receive buffer')).toEqual(expected);
  await expect(page.getByLabel('Verdict')).toContainText('proved that this is right');
});

test('bruck with radix 3 has four rounds at 8 ranks', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8&r=3&step=2');
  const run = new RunOnPage(page);
  await run.expectStep(2, 6);
  await expect(run.words).toContainText('Round 1 of 4');
  // Distances 1, 4 and 7 have 1 as their last digit in base 3.
  for (const distance of [1, 4, 7]) {
    await expect(run.block('Scratch', 0, 8 + distance)).toHaveText(inputLabel(7, (7 + distance) % 8));
  }
  await run.expectTotal('Messages', 8, 8);
  await run.expectTotal('Blocks', 24, 24);
  await expect(run.whole).toContainText('32 messages, 80 blocks');
});

test('spread_out takes each block straight to its rank', async ({ page }) => {
  await page.goto('/alltoall/spread_out?p=8');
  const run = new RunOnPage(page);
  await run.expectStep(0, 8);
  for (const distance of range(8)) {
    await run.button('Step').click();
    if (distance === 0) continue;
    await run.expectTotal('Messages', 8, 8 * distance);
    for (const rank of range(8)) {
      const source = (rank - distance + 8) % 8;
      await expect(run.block('Receive buffer', rank, source)).toHaveText(inputLabel(source, rank));
      await expect(run.block('Receive buffer', rank, source)).toHaveAttribute('data-shape', 'chip');
    }
  }
  await expect(run.whole).toContainText('56 messages, 56 blocks');
});

test('binary_blocks at 13 ranks reduces within blocks, then between them', async ({ page }) => {
  await page.goto('/allreduce/binary_blocks?p=13&step=3');
  const run = new RunOnPage(page);
  await expect(run.whole).toContainText('13 = 8 + 4 + 1');
  for (const block of range(4)) {
    await expect(run.block('Receive buffer', 0, block)).toHaveText(`0,1${subscript(block)}`);
    await expect(run.block('Receive buffer', 0, block)).toHaveAttribute('data-shape', 'hexagon');
  }
  await page.keyboard.press('End');
  await expect(run.panel('Receive buffer').locator('g[data-rank]')).toHaveCount(13 * 8);
  for (const rank of range(13)) {
    for (const block of range(8)) {
      await expect(run.block('Receive buffer', rank, block)).toHaveText(`0–12${subscript(block)}`);
    }
  }
  await expect(run.whole).toContainText('88 messages');
});

test('the ring of scatter_ring_allgather_opt sends 75 messages at 10 ranks, 44 at 8', async ({ page }) => {
  await page.goto('/bcast/scatter_ring_allgather_opt?p=10');
  const run = new RunOnPage(page);
  await expect(run.whole).toContainText('84 messages');
  await expect(run.whole).toContainText('90 messages of a closed ring 75 remain');
  await page.getByRole('spinbutton', { name: 'Processes' }).fill('8');
  await expect(run.whole).toContainText('56 messages of a closed ring 44 remain');
  await expect(page).toHaveURL(/p=8/);
  await page.keyboard.press('Tab');
  await page.getByRole('spinbutton', { name: 'Root' }).fill('3');
  await expect(run.block('Receive buffer', 3, 0)).toHaveText(inputLabel(3, 0));
  await run.slider.focus();
  await page.keyboard.press('End');
  await run.expectStep(10, 10);
  for (const rank of range(8)) {
    for (const block of range(8)) {
      await expect(run.block('Receive buffer', rank, block)).toHaveText(inputLabel(3, block));
    }
  }
});

test('rabenseifner shows reductions as expressions', async ({ page }) => {
  await page.goto('/allreduce/rabenseifner?p=4&step=2');
  const run = new RunOnPage(page);
  await expect(run.block('Scratch', 0, 0)).toHaveText('(0 ⊕ 1)₀');
  await expect(run.block('Scratch', 0, 0)).toHaveAttribute('data-shape', 'hexagon');
  await page.goto('/allreduce/rabenseifner?p=8&step=6');
  await expect(run.block('Receive buffer', 0, 0)).toHaveText('0–7₀');
  await expect(run.block('Receive buffer', 0, 0)).toHaveAttribute('data-shape', 'hexagon');
  await run.block('Receive buffer', 0, 0).hover();
  await expect(page.getByLabel('The block pointed at')).toContainText(
    'P0, receive buffer, block 0: block 0 of ((0 ⊕ 1) ⊕ (2 ⊕ 3)) ⊕ ((4 ⊕ 5) ⊕ (6 ⊕ 7)), just reduced',
  );
});

test('costs are those of the rank that sends or receives most, and rounds are of messages or flags', async ({
  page,
}) => {
  const run = new RunOnPage(page);
  await page.goto('/gather/linear?p=8');
  await expect(run.whole).toContainText('7 messages and 7 blocks sent or received by one rank');
  await page.goto('/alltoall/shared?p=8');
  await expect(run.whole).toContainText('0 rounds of messages');
  await expect(run.whole).toContainText(/Cost: [1-9]\d* rounds? of messages or flags/);
});

test('a barrier has messages, and neither blocks nor bytes', async ({ page }) => {
  await page.goto('/barrier/dissemination?p=8&r=2&step=1');
  const run = new RunOnPage(page);
  await run.expectTotal('Messages', 8, 8);
  await expect(run.words.getByRole('row')).toHaveCount(2);
  await expect(run.whole).toContainText('24 messages, 3 rounds of messages');
  await expect(run.whole).not.toContainText(/block|byte/);
  await expect(page.getByText('No data moves here')).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'Elements in a block' })).toHaveCount(0);
  await page.goto('/barrier/compare?a=dissemination&b=tree&p=8');
  const totals = page.getByRole('table', { name: 'Up to now' });
  await expect(totals.getByRole('row', { name: 'Messages' })).toHaveCount(1);
  await expect(page.getByRole('row', { name: 'Bytes' })).toHaveCount(0);
});

test('play, stop, reset, back, speed and the slider move the run', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8&r=2');
  const run = new RunOnPage(page);
  await run.expectStep(0, 5);
  await expect(run.button('Back')).toBeDisabled();
  await choose(page.getByRole('combobox', { name: 'Speed' }), '8 a second');
  await expect(page).toHaveURL(/speed=8/);
  await run.button('Play').click();
  await run.expectStep(5, 5);
  await expect(run.button('Play')).toBeEnabled();
  await run.button('Back').click();
  await run.expectStep(4, 5);
  await run.button('Reset').click();
  await run.expectStep(0, 5);
  await expect(page).not.toHaveURL(/step/);
  await run.slider.press('ArrowRight');
  await run.slider.press('ArrowRight');
  await run.expectStep(2, 5);
  await expect(page).toHaveURL(/step=2/);
  await choose(page.getByRole('combobox', { name: 'Speed' }), '0.5 a second');
  await run.button('Play').click();
  await run.button('Stop').click();
  await expect(run.button('Stop')).toBeDisabled();
});

test('another problem stops the run and begins anew', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8&r=2&speed=8&step=1');
  const run = new RunOnPage(page);
  await run.expectStep(1, 5);
  await run.button('Step').click();
  // The step is not in the address yet.
  await page.getByRole('spinbutton', { name: 'Radix' }).fill('3');
  await run.expectStep(0, 6);
  await expect(page).not.toHaveURL(/step/);
  await page.goto('/alltoall/bruck?p=8&r=2&speed=0.5');
  await run.expectStep(0, 5);
  await run.button('Play').click();
  await expect(run.button('Stop')).toBeEnabled();
  await page.getByRole('spinbutton', { name: 'Radix' }).fill('3');
  await expect(run.button('Stop')).toBeDisabled();
  await run.expectStep(0, 6);
});

test('a button that has nothing more to do keeps the focus', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8&r=2&step=4');
  const run = new RunOnPage(page);
  await run.expectStep(4, 5);
  await run.button('Step').focus();
  await page.keyboard.press('Space');
  await run.expectStep(5, 5);
  await expect(run.button('Step')).toBeDisabled();
  await expect(run.button('Step')).toBeFocused();
  await page.keyboard.press('Enter');
  await run.expectStep(5, 5);
  await page.keyboard.press('ArrowLeft');
  await run.expectStep(4, 5);
  await page.getByRole('group', { name: 'Messages' }).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  await run.expectStep(4, 5);
});

test('keys step through the run, but not while one types', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8&r=2');
  const run = new RunOnPage(page);
  await run.expectStep(0, 5);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await run.expectStep(2, 5);
  await page.keyboard.press('ArrowLeft');
  await run.expectStep(1, 5);
  await page.keyboard.press('End');
  await run.expectStep(5, 5);
  await page.keyboard.press('Home');
  await run.expectStep(0, 5);
  await page.keyboard.press('+');
  await expect(page.getByText('2 a second')).toBeVisible();
  await page.keyboard.press('-');
  await page.keyboard.press('-');
  await expect(page.getByText('0.5 a second')).toBeVisible();
  await page.keyboard.press('Space');
  await expect(run.button('Stop')).toBeEnabled();
  await page.keyboard.press('Space');
  await expect(run.button('Stop')).toBeDisabled();
  await page.keyboard.press('Home');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('one step back');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.getByRole('spinbutton', { name: 'Processes' }).press('End');
  await page.keyboard.press('ArrowLeft');
  await run.expectStep(0, 5);
});

test('blocks can be read by keys', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=4&r=2');
  const run = new RunOnPage(page);
  await run.panel('Send buffer').focus();
  const pointed = page.getByLabel('The block pointed at');
  await expect(pointed).toContainText('P0, send buffer, block 0: block 0 of rank 0, about to be read');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await expect(pointed).toContainText('P1, send buffer, block 1: block 1 of rank 1');
  await run.expectStep(0, 4);
  await page.keyboard.press('End');
  await run.expectStep(4, 4);
  await expect(pointed).toHaveText('P1, send buffer, block 1: block 1 of rank 1');
});

test('a link brings everything back', async ({ page }) => {
  await page.goto('/bcast/binomial?p=6&root=2&segments=3&n=4&step=2');
  const run = new RunOnPage(page);
  await expect(page.getByRole('spinbutton', { name: 'Processes' })).toHaveValue('6');
  await expect(page.getByRole('spinbutton', { name: 'Root' })).toHaveValue('2');
  await expect(page.getByRole('spinbutton', { name: 'Segments' })).toHaveValue('3');
  await expect(page.getByRole('combobox', { name: 'Elements in a block' })).toHaveValue('4');
  await expect(run.place).toHaveText(/^Step 2 of/);
  await expect(run.block('Receive buffer', 2, 2)).toHaveText(inputLabel(2, 2));
  await page.goto('/allreduce/rabenseifner?p=4&in_place=1');
  await expect(page.getByRole('checkbox', { name: 'In place' })).toBeChecked();
  await expect(run.panel('Send buffer')).toHaveCount(0);
  await page.getByRole('checkbox', { name: 'In place' }).uncheck();
  await expect(run.panel('Send buffer')).toHaveCount(1);
  await page.goto('/neighbor_alltoall/linear?p=6&grid=3x2&periodic=1');
  await expect(page.getByRole('textbox', { name: 'Grid' })).toHaveValue('3x2');
  await expect(page.getByRole('checkbox', { name: 'Periodic' })).toBeChecked();
});

test('a link brings back the speed, the timeline and its machine, also after a reload', async ({ page }) => {
  const settings = 'p=8&ranks_per_node=2&speed=4&timeline=1&machine=hockney&bytes=4096&latency=0.00001';
  await page.goto(`/alltoall/node_aware?${settings}`);
  for (const _ of range(2)) {
    await expect(page.getByRole('spinbutton', { name: 'Ranks on a node' })).toHaveValue('2');
    await expect(page.getByText('4 a second')).toBeVisible();
    await expect(page.getByRole('img', { name: /What 8 ranks do when/ })).toBeVisible();
    await expect(page.getByText('4 KiB')).toBeVisible();
    await expect(page.locator('main output', { hasText: /^10 µs$/ })).toBeVisible();
    await page.reload();
  }
  await page.goto('/alltoall/linear_window?p=6&window=2');
  await page.reload();
  await expect(page.getByRole('spinbutton', { name: 'Window' })).toHaveValue('2');
});

test('the controls change the run and the link', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=8&r=2');
  const run = new RunOnPage(page);
  await run.expectStep(0, 5);
  await page.getByRole('spinbutton', { name: 'Radix' }).fill('3');
  await run.expectStep(0, 6);
  await expect(page).toHaveURL(/r=3/);
  await choose(page.getByRole('combobox', { name: 'Elements in a block' }), '3');
  await expect(run.whole).toContainText('960 bytes');
  await page.goto('/alltoall/linear_window?p=6&window=2');
  await expect(page.getByRole('spinbutton', { name: 'Window' })).toHaveValue('2');
  await page.goto('/alltoall/node_aware?p=8');
  await page.getByRole('spinbutton', { name: 'Ranks on a node' }).fill('2');
  await expect(page).toHaveURL(/ranks_per_node=2/);
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await page.goto('/alltoall/inter_linear?p=6&remote=2');
  await expect(page.getByRole('spinbutton', { name: 'second group' })).toHaveValue('2');
});

test('bad links say what is wrong where, and the page goes on', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=40');
  await expect(page.locator('main')).toContainText('ranks 40: expected a whole number from 2 to 32');
  await page.getByRole('button', { name: 'Take the defaults' }).click();
  const run = new RunOnPage(page);
  await expect(run.place).toHaveText(/^Step 0/);
  await page.getByRole('spinbutton', { name: 'Radix' }).fill('1');
  await expect(page.locator('main')).toContainText('radix 1: expected a number from 2 up');
  await expect(page.locator('main')).toContainText('The page still shows the run from before');
  await expect(run.block('Send buffer', 0, 0)).toBeVisible();
  await page.goto('/alltoall/bruck?p=8&root=2');
  await expect(page.getByRole('alert')).toContainText('root has no effect on alltoall bruck');
  await page.goto('/alltoall/bruck?p=eight');
  await expect(page.locator('main')).toContainText('p eight: expected a whole number');
  await page.goto('/alltoall/bruck?p=8&r=2&step=99');
  await expect(page.getByRole('alert')).toContainText('step 99: expected a whole number from 0 to 5');
  await run.expectStep(5, 5);
  await page.goto('/alltoall/bruck?p=8&n=9');
  await expect(page.locator('main')).toContainText('n 9: expected a whole number from 1 to 4');
});

test('what a link says amiss beside the problem is said, and the rest of it holds', async ({ page }) => {
  await page.goto(
    '/alltoall/bruck?p=8&r=2&radix=3&speed=3&bytes=-1&latency=abc&per_node=1.5&timeline=maybe&step=2',
  );
  const main = page.locator('main');
  await new RunOnPage(page).expectStep(2, 5);
  await expect(main).toContainText('radix: this page has no such key; it has p, root, r,');
  await expect(main).toContainText('speed 3: expected one of 0.5, 1, 2, 4, 8');
  await expect(main).toContainText('bytes -1: expected a whole number');
  await expect(main).toContainText('latency abc: expected a number');
  await expect(main).toContainText('per_node 1.5: expected a whole number');
  await expect(main).toContainText('timeline maybe: expected 1 or 0');
  await page.goto('/allreduce/ring?p=4&timeline=1&bytes=4294967296&per_node=4294967296');
  await expect(main).toContainText('bytes 4294967296: expected a whole number from 0 to 4194304');
  await expect(main).toContainText('per_node 4294967296: expected a whole number from 1 to 1024');
  await expect(page.getByRole('img', { name: /What 4 ranks do when/ })).toBeVisible();
});

test('the timeline follows the machine', async ({ page }) => {
  await page.goto('/allreduce/ring?p=4');
  await page.getByText('When each rank does what').click();
  await expect(page).toHaveURL(/timeline=1/);
  const chart = page.getByRole('img', { name: /What 4 ranks do when/ });
  for (const kind of ['send', 'receive', 'work', 'wait']) {
    await expect(chart.locator(`rect[data-kind="${kind}"]`).first()).toBeAttached();
  }
  const before = await chart.getAttribute('aria-label');
  await page.getByRole('slider', { name: 'latency' }).press('ArrowRight');
  await expect(chart).not.toHaveAttribute('aria-label', before ?? '');
  await expect(page).toHaveURL(/latency=/);
  await page.reload();
  await expect(page.getByRole('button', { name: 'As it was' })).toBeVisible();
  await page.goto('/allreduce/ring?p=4&timeline=1&machine=nowhere');
  await expect(page.locator('main')).toContainText('nowhere');
});

test('a timeline has the nodes of its run', async ({ page }) => {
  const chart = page.getByRole('img', { name: /What 8 ranks do when/ });
  const ofMachine = page.getByRole('combobox', { name: 'Ranks on a node' });
  await page.goto('/alltoall/node_aware?p=8&ranks_per_node=2&timeline=1&per_node=1');
  await expect(chart).toBeVisible();
  await expect(page.getByRole('spinbutton', { name: 'Ranks on a node' })).toHaveValue('2');
  await expect(ofMachine).toHaveCount(0);
  await expect(page.getByRole('alert')).toContainText('per_node: this has no effect');
  await page.goto('/alltoall/shared?p=8&timeline=1');
  await expect(chart).toBeVisible();
  await expect(ofMachine).toHaveCount(0);
  await page.goto('/alltoall/bruck?p=8&timeline=1');
  await expect(chart).toBeVisible();
  await expect(ofMachine).toHaveCount(1);
});

test('a run that takes no time has a sentence in place of a chart', async ({ page }) => {
  await page.goto(
    '/alltoall/bruck?p=4&timeline=1&latency=0&byte_time=0&overhead=0&gap=0&reduce_time=0&per_node=1',
  );
  await expect(page.locator('main')).toContainText('Nothing takes time on this machine');
  await expect(page.getByRole('img', { name: /What 4 ranks do when/ })).toHaveCount(0);
});

test('a picture is saved that needs nothing else', async ({ page }) => {
  await page.goto('/allreduce/rabenseifner?p=8&step=2');
  await expect(new RunOnPage(page).place).toHaveText(/^Step 2 of/);
  const download = await exported(page, 'Picture as SVG');
  expect(download.suggestedFilename()).toBe('allreduce-rabenseifner-p8.svg');
  const text = await readFile(await download.path(), 'utf8');
  const found = await page.evaluate((text) => {
    const picture = new DOMParser().parseFromString(text, 'image/svg+xml');
    const values = [...picture.querySelectorAll('*')].flatMap((part) =>
      [...part.attributes].map(({ value }) => value),
    );
    const used = values.flatMap((value) => [...value.matchAll(/url\(#(.*?)\)/g)].map(([, id]) => id ?? ''));
    const uses = new Set(used);
    return {
      gradients: uses.size > 0,
      missing: [...uses].filter((id) => !picture.getElementById(id)),
      outside: values.filter((value) => /url\((?!#)/.test(value)),
      links: picture.querySelectorAll('[href]').length,
      faults: picture.querySelectorAll('parsererror').length,
      blocks: picture.querySelectorAll('g[data-rank]').length,
      titles: [...picture.querySelectorAll('svg[data-title]')].map((part) => part.getAttribute('data-title')),
      styles: picture.querySelectorAll('[class], [style]').length,
    };
  }, text);
  expect(found).toEqual({
    gradients: true,
    missing: [],
    outside: [],
    links: 0,
    faults: 0,
    blocks: await page.locator('svg[data-picture] g[data-rank]').count(),
    titles: ['Send buffer', 'Receive buffer', 'Scratch', 'Messages'],
    styles: 0,
  });
  const bitmap = await exported(page, 'Picture as PNG');
  expect((await readFile(await bitmap.path())).subarray(1, 4).toString()).toBe('PNG');
});

test('the schedule is saved as text and as GOAL, and the link is copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/alltoall/bruck?p=4');
  const save = async (name: string) => readFile(await (await exported(page, name)).path(), 'utf8');
  expect(await save('Schedule as text')).toContain('rank 3 of 4, 4 blocks');
  expect(await save('Schedule as GOAL')).toContain('num_ranks 4');
  await exportAs(page, 'Copy the link');
  await expect(page.getByText('The link is copied.')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('/alltoall/bruck?p=4');
});

test('an algorithm made of calls shows what each rank calls', async ({ page }) => {
  await page.goto('/allreduce/allreduce_as_reduce_bcast?p=3');
  const calls = page.getByRole('region', { name: 'What each rank calls' });
  for (const rank of range(3)) await expect(calls.getByRole('heading', { name: `P${rank}` })).toBeVisible();
  await expect(calls).toContainText(/reduce/i);
});

test('every algorithm of every collective is drawn', async ({ page }) => {
  test.setTimeout(300_000);
  // Without reading the whole page anew each time.
  const goWithin = (path: string) =>
    page.evaluate((address) => {
      history.pushState(null, '', address);
      dispatchEvent(new PopStateEvent('popstate'));
    }, path);
  const lastOf = (path: string) => path.split('/').at(-1) ?? '';
  const pathsOf = async (links: Locator) => {
    await expect(links.first()).toBeVisible();
    const addresses = await links.evaluateAll((found) =>
      found.map((link) => link.getAttribute('href') ?? ''),
    );
    return new Set(addresses.map((address) => address.split('?')[0] ?? ''));
  };
  await page.goto('/');
  const collectives = await pathsOf(page.locator('main').getByRole('link', { name: /^MPI_/ }));
  expect(collectives.size).toBeGreaterThan(15);
  let drawn = 0;
  for (const collective of collectives) {
    await goWithin(collective);
    await expect(page).toHaveTitle(new RegExp(`^${lastOf(collective)} `));
    const list = page.getByRole('list', { name: /^The algorithms of/ });
    for (const path of await pathsOf(list.getByRole('link'))) {
      await goWithin(path);
      await expect(page).toHaveTitle(new RegExp(`^${lastOf(path)} `));
      await expect(page.getByLabel('Verdict'), path).toContainText('is right');
      drawn++;
    }
  }
  expect(drawn).toBeGreaterThan(100);
});

test('the states of a long run are the same in whatever order they are asked for', () => {
  const cell = (value: number) => ({ rank: 0, buffer: 0, block: value % 5, value, how: 'moved' });
  const trace = {
    problem: { ranks: 1 },
    buffers: [{ name: 'recv', title: 'Receive buffer', ranges: [{ first: 0, count: 5 }] }],
    initial: range(5).map(cell),
    steps: range(300).map((step) => ({ writes: [cell(step + 5)] })),
  };
  const states = new States(trace as unknown as Trace);
  for (const step of [299, 300, 64, 63, 65, 0, 128, 1, 300, 200]) {
    const expected = range(5).map((block) => step + ((((block - step) % 5) + 5) % 5));
    expect([...states.at(step)], `step ${step}`).toEqual(expected);
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious on the page of an algorithm, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto('/allreduce/rabenseifner?p=8&step=2&timeline=1');
    await expect(page.getByRole('img', { name: /What 8 ranks do when/ })).toBeVisible();
    await expectAccessible(page);
    await page.goto('/allreduce/rabenseifner?p=40');
    await expect(page.getByRole('button', { name: 'Take the defaults' })).toBeVisible();
    await expectAccessible(page);
  });
}
