import { readFileSync } from 'node:fs';

import type { Locator, Page } from '@playwright/test';

import { ATLAS_BYTES, atlasFrame, atlasRanks } from '../src/maps/atlas.ts';
import {
  columnsOf,
  MAP_BYTES,
  MAP_COLUMNS,
  spanOf,
  toPixel,
  type Frame,
  type Point,
} from '../src/maps/scale.ts';
import { expectAccessible } from './accessibility.ts';
import { expect, test } from './fixtures.ts';
import { choose } from './run.ts';

const MAP: Frame = { ranks: spanOf(MAP_COLUMNS), bytes: MAP_BYTES };
const MAP_WITHOUT_BYTES: Frame = { ...MAP, bytes: null };
const ATLAS = atlasFrame(columnsOf(atlasRanks(32)), ATLAS_BYTES);

const RULES = readFileSync('../selection-rules/default.toml', 'utf8').split('\n');

const mapOf = (page: Page) => page.getByRole('application', { name: /^Decision map/ });
const atlasOf = (page: Page) => page.getByRole('application', { name: /^Atlas/ });
const choiceOf = (page: Page) => page.getByRole('status', { name: 'What is chosen at the point' });
const fastestOf = (page: Page) => page.getByRole('status', { name: 'The fastest at the point' });

async function placeOf(map: Locator, frame: Frame, point: Point): Promise<{ x: number; y: number }> {
  await map.scrollIntoViewIfNeeded();
  const box = await map.boundingBox();
  if (!box) throw new Error('the map is not shown');
  const { x, y } = toPixel(frame, point, box.width, box.height);
  return { x: box.x + x, y: box.y + y };
}

async function hover(page: Page, map: Locator, frame: Frame, point: Point): Promise<void> {
  const { x, y } = await placeOf(map, frame, point);
  await page.mouse.move(x, y);
}

/** What the map says of a point. */
async function expectChoice(page: Page, point: Point, choice: string, frame = MAP): Promise<void> {
  await hover(page, mapOf(page), frame, point);
  await expect(choiceOf(page)).toContainText(`${point.ranks} ranks`);
  await expect(choiceOf(page).locator('strong').last()).toHaveText(choice);
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(mapOf(page).locator('svg path[fill^="#"]').first()).toBeVisible();
}

async function expectPriced(page: Page): Promise<void> {
  await expect(page.getByRole('progressbar')).toHaveCount(0, { timeout: 45_000 });
  await expect(atlasOf(page).locator('svg text').first()).toBeVisible();
}

async function drop(page: Page, name: string, content: string | number[]): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([name, content]) => {
      const transfer = new DataTransfer();
      const part = typeof content === 'string' ? content : new Uint8Array(content as number[]);
      transfer.items.add(new File([part], name as string));
      return transfer;
    },
    [name, content] as const,
  );
  await page.dispatchEvent('h1', 'dragover', { dataTransfer: transfer });
  await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
}

const chip = (page: Page, name: string) => page.locator('.v-chip', { hasText: name });

test('the default rules decide on the map as in their file, and are pointed at', async ({ page }) => {
  const cases: [string, Point, string, string][] = [
    ['allreduce', { ranks: 16, bytes: 100 }, 'allgather_reduce radix=4', 'when = "bytes * ranks <= 8KiB"'],
    ['allreduce', { ranks: 16, bytes: 1 << 20 }, 'rabenseifner', 'power_of_two = true'],
    ['allreduce', { ranks: 12, bytes: 1 << 20 }, 'circulant radix=4', 'algorithm = "circulant"'],
    ['allreduce', { ranks: 1024, bytes: 1 << 20 }, 'rabenseifner', 'power_of_two = true'],
    ['alltoall', { ranks: 8, bytes: 1 << 10 }, 'linear_window window=32', 'window = 32'],
    ['alltoall', { ranks: 16, bytes: 60 }, 'bruck_modified radix=4', 'ranks = "13..32"'],
    ['alltoall', { ranks: 64, bytes: 256 }, 'bruck_modified', 'radix = "sqrt"'],
  ];
  let shown = '';
  for (const [collective, point, choice, condition] of cases) {
    if (collective !== shown) await open(page, `/${collective}`);
    shown = collective;
    await expectChoice(page, point, choice);
    const said = (await choiceOf(page).textContent()) ?? '';
    const line = Number(/by line (\d+)/.exec(said)?.[1]);
    expect(RULES[line - 1]).toBe(`[[${collective}]]`);
    await expect(choiceOf(page).locator('pre')).toContainText(condition);
    const marked = page.locator('[aria-current="true"][data-line]');
    await expect(marked).toHaveAttribute('data-line', String(line));
    await expect(marked).toBeVisible();
  }
});

test('nodes change the map, and the link says so', async ({ page }) => {
  await open(page, '/alltoall?ranks_per_node=4');
  await expectChoice(page, { ranks: 4, bytes: 64 }, 'shared');
  await expectChoice(page, { ranks: 16, bytes: 1 << 10 }, 'shared_multi_leaders');
  const section = page.locator('section', { hasText: 'rules choose' });
  await choose(section.getByRole('combobox', { name: 'Ranks per node' }), '1');
  await expectChoice(page, { ranks: 16, bytes: 1 << 10 }, 'linear_window window=32');
  await expect(page).not.toHaveURL(/ranks_per_node/);
});

test('a click opens the algorithm as it was chosen', async ({ page }) => {
  await open(page, '/alltoall');
  const place = await placeOf(mapOf(page), MAP, { ranks: 16, bytes: 60 });
  await page.mouse.click(place.x, place.y);
  await expect(page).toHaveURL(/\/alltoall\/bruck_modified\?p=16&r=4/);
  await page.goBack();
  await expect(mapOf(page).locator('svg path[fill^="#"]').first()).toBeVisible();
  const large = await placeOf(mapOf(page), MAP, { ranks: 1024, bytes: 256 });
  await page.mouse.click(large.x, large.y);
  await expect(page).toHaveURL(/\/alltoall\/bruck_modified\?p=32$/);
});

test('the mouse reaches the link to what it points at', async ({ page }) => {
  await open(page, '/alltoall');
  await expectChoice(page, { ranks: 16, bytes: 60 }, 'bruck_modified radix=4');
  const link = choiceOf(page).getByRole('link');
  const box = await link.boundingBox();
  if (!box) throw new Error('there is no link');
  await page.mouse.move(box.x + 5, box.y + box.height / 2, { steps: 20 });
  await link.click();
  await expect(page).toHaveURL(/\/alltoall\/\w+\?p=\d+/);
});

test('keys move over the map and open what is chosen', async ({ page }) => {
  await open(page, '/allreduce');
  await mapOf(page).focus();
  await page.keyboard.press('ArrowRight');
  await expect(choiceOf(page)).toContainText('ranks, 8 KiB');
  await page.keyboard.press('ArrowUp');
  await expect(choiceOf(page)).toContainText('ranks, 16 KiB');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowLeft');
  await expect(choiceOf(page)).toContainText('ranks, 8 KiB');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/allreduce\/circulant\?p=32&r=\d+/);
});

test('a finger shows a point before it opens it', async ({ page, isMobile }) => {
  test.skip(!isMobile, 'needs a touch screen');
  await open(page, '/allreduce');
  const { x, y } = await placeOf(mapOf(page), MAP, { ranks: 12, bytes: 1 << 20 });
  await page.touchscreen.tap(x, y);
  await expect(choiceOf(page)).toContainText('circulant radix=4');
  await page.getByRole('link', { name: 'Show circulant with these' }).tap();
  await expect(page).toHaveURL(/\/allreduce\/circulant\?p=12&r=4/);
});

test('collectives without bytes are drawn over ranks', async ({ page }) => {
  await open(page, '/barrier');
  await hover(page, mapOf(page), MAP_WITHOUT_BYTES, { ranks: 12, bytes: 0 });
  await expect(choiceOf(page)).toContainText('12 ranks:');
  await expect(choiceOf(page)).toContainText(/by line \d+/);
  await open(page, '/alltoallv');
  await expect(page.getByText('Not all ranks know the bytes of this call')).toBeVisible();
});

test('rules ask for the bytes of neighbours on a grid, and not on other graphs', async ({ page }) => {
  await open(page, '/neighbor_alltoall?neighbours=26');
  await expect(page.getByText('There are no prices here')).toBeVisible();
  await expect(page.getByText('Bytes are those of one block')).toBeVisible();
  await expectChoice(page, { ranks: 27, bytes: 48 }, 'combining');
  await expectChoice(page, { ranks: 27, bytes: 1 << 10 }, 'linear');
  await choose(page.getByRole('combobox', { name: 'Neighbours of a rank' }), '6,');
  await expect(page).toHaveURL(/neighbours=6/);
  await expectChoice(page, { ranks: 27, bytes: 48 }, 'linear');
  await choose(page.getByRole('combobox', { name: 'Neighbours of a rank' }), 'on');
  await expect(page.getByText('Not all ranks know the bytes of this call')).toBeVisible();
  await expectChoice(page, { ranks: 27, bytes: 0 }, 'linear', MAP_WITHOUT_BYTES);
  await open(page, '/neighbor_alltoallv');
  await expect(page.getByRole('combobox', { name: 'Neighbours of a rank' })).toHaveCount(0);
});

test('the rules that decide stand in a table with links', async ({ page }) => {
  await open(page, '/alltoall');
  await page.getByText('All rules that decide here, as a table').click();
  const table = page.getByRole('table', { name: 'Rules that decide here' });
  const row = table.getByRole('row', { name: /bruck_modified radix=4.*13 to 32/ });
  await expect(row).toContainText('0 B to 128 B');
  await row.getByRole('link').click();
  await expect(page).toHaveURL(/\/alltoall\/bruck_modified\?p=13&r=4/);
});

test('a rule file of one’s own changes the map, on all pages until it is put away', async ({ page }) => {
  await open(page, '/alltoall');
  await drop(
    page,
    'mine.toml',
    '[[alltoall]]\nbytes = "..1KiB"\nalgorithm = "bruck"\nradix = 3\n\n[[alltoall]]\nalgorithm = "pairwise"\n',
  );
  await expect(chip(page, 'mine.toml')).toBeVisible();
  await expectChoice(page, { ranks: 16, bytes: 100 }, 'bruck radix=3');
  await expect(choiceOf(page)).toContainText('by line 1');
  await expectChoice(page, { ranks: 16, bytes: 1 << 20 }, 'pairwise');
  await expect(choiceOf(page)).toContainText('by line 6');
  await page.getByRole('link', { name: 'rustcoll guide' }).click();
  await page.getByRole('link', { name: /^MPI_Allreduce / }).click();
  await expect(chip(page, 'mine.toml')).toBeVisible();
  await expectChoice(page, { ranks: 16, bytes: 100 }, 'below');
  await expect(choiceOf(page)).toContainText('no rule matches');
  await page.reload();
  await chip(page, 'mine.toml').getByRole('button', { name: 'Back to the default rules' }).click();
  await expectChoice(page, { ranks: 16, bytes: 1 << 20 }, 'rabenseifner');
});

test('a file with as many rules as there may be is shown', async ({ page }) => {
  const rule = (number: number) =>
    `[[alltoall]]\nbytes = "${10 * number}..${10 * number + 4}"\nalgorithm = "bruck"\nradix = ${2 + (number % 7)}\n`;
  await open(page, '/alltoall');
  await drop(page, 'many.toml', Array.from({ length: 1000 }, (_, number) => rule(number)).join('\n'));
  await expect(chip(page, 'many.toml')).toBeVisible({ timeout: 30_000 });
  await expectChoice(page, { ranks: 16, bytes: 1 << 20 }, 'below');
  await expectChoice(page, { ranks: 16, bytes: 2 }, 'bruck radix=2');
});

test('a rule with a window that is too large to draw opens the largest one', async ({ page }) => {
  await open(page, '/alltoall');
  await drop(page, 'mine.toml', '[[alltoall]]\nalgorithm = "linear_window"\nwindow = 64\n');
  await expectChoice(page, { ranks: 16, bytes: 100 }, 'linear_window window=64');
  await choiceOf(page).getByRole('link').click();
  await expect(page).toHaveURL(/\/alltoall\/linear_window\?p=16&window=32$/);
  await expect(page.getByLabel('Verdict')).toContainText('is right');
});

test('a file of Open MPI’s tuned component is chosen by the button', async ({ page }) => {
  await open(page, '/allreduce');
  const text = '1 # collectives\n2 # allreduce\n1\n8\n2\n0 3 0 0\n4096 4 0 0\n';
  await page
    .getByLabel('Your rule file')
    .setInputFiles({ name: 'tuned.conf', mimeType: 'text/plain', buffer: Buffer.from(text) });
  await expect(chip(page, 'tuned.conf')).toBeVisible();
  await expectChoice(page, { ranks: 16, bytes: 100 }, 'recursive_doubling');
  await expect(choiceOf(page)).toContainText('by line 6');
  await expectChoice(page, { ranks: 16, bytes: 1 << 20 }, 'ring');
});

test('a malformed file is refused with all places, and the map stays', async ({ page }) => {
  await open(page, '/alltoall');
  await drop(page, 'bad.toml', '[[alltoall]]\nalgorithm = "brook"\nranks = "2..x"\n');
  const alert = page.getByRole('alert').filter({ hasText: 'bad.toml is not shown' });
  await expect(alert).toContainText('line 2, column 14');
  await expect(alert).toContainText('`bruck`');
  await expect(alert).toContainText('algorithm = "brook"');
  await expect(alert).toContainText('line 3, column 10');
  await expect(alert).toContainText('ranks = "2..x"');
  await expectChoice(page, { ranks: 16, bytes: 60 }, 'bruck_modified radix=4');
  await alert.getByRole('button', { name: 'Dismiss the faults' }).click();
  await expect(alert).toHaveCount(0);
});

test('what is no text or too long is refused', async ({ page }) => {
  await open(page, '/alltoall');
  await drop(page, 'picture.png', [0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);
  await expect(page.getByRole('alert')).toContainText('picture.png is not a text');
  await drop(page, 'long.toml', '#'.repeat((1 << 20) + 1));
  await expect(page.getByRole('alert')).toContainText('long.toml has 1048577 bytes');
  await expectChoice(page, { ranks: 16, bytes: 60 }, 'bruck_modified radix=4');
});

test('a file that cannot be read is refused by its name', async ({ page }) => {
  await open(page, '/alltoall');
  await page.evaluate(() => {
    Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException('no such file', 'NotFoundError'));
  });
  await drop(page, 'folder', 'nothing');
  await expect(page.getByRole('alert')).toContainText('folder cannot be read');
});

test('of two files the last one is shown, whichever is read first', async ({ page }) => {
  await open(page, '/alltoall');
  await page.evaluate(() => {
    const read = Blob.prototype.arrayBuffer;
    Blob.prototype.arrayBuffer = async function (this: File) {
      if (this.name === 'slow.toml') await new Promise((resolve) => setTimeout(resolve, 1000));
      return read.call(this);
    };
  });
  await drop(page, 'slow.toml', '[[alltoall]]\nalgorithm = "bruck"\n');
  await drop(page, 'quick.toml', '[[alltoall]]\nalgorithm = "pairwise"\n');
  await expect(chip(page, 'quick.toml')).toBeVisible();
  await page.waitForTimeout(1500);
  await expect(chip(page, 'quick.toml')).toBeVisible();
  await expectChoice(page, { ranks: 16, bytes: 100 }, 'pairwise');
});

test('the atlas shows the three fastest, and follows the sliders', async ({ page }) => {
  await open(page, '/alltoall?most=32');
  await expectPriced(page);
  const point = { ranks: 16, bytes: 1 << 10 };
  await hover(page, atlasOf(page), ATLAS, point);
  await expect(fastestOf(page).locator('li')).toHaveCount(3);
  await expect(fastestOf(page)).toContainText('16 ranks, 1 KiB');
  await expect(fastestOf(page)).toContainText('The rules choose linear_window');
  const before = await fastestOf(page).locator('li').first().textContent();
  await page.getByRole('slider', { name: /latency/ }).press('End');
  await expect(page).toHaveURL(/latency=0\.01/);
  await expectPriced(page);
  await hover(page, atlasOf(page), ATLAS, point);
  await expect(fastestOf(page).locator('li').first()).toContainText('ms');
  expect(await fastestOf(page).locator('li').first().textContent()).not.toBe(before);
});

for (const machine of ['leonardo', 'summit']) {
  test(`the atlas is filled for ${machine}, beyond a node too`, async ({ page }) => {
    await open(page, `/allreduce?machine=${machine}&most=64`);
    await expectPriced(page);
    const frame = atlasFrame(columnsOf(atlasRanks(64)), ATLAS_BYTES);
    await hover(page, atlasOf(page), frame, { ranks: 64, bytes: 1 << 20 });
    await expect(fastestOf(page)).toContainText('64 ranks, 1 MiB');
    await expect(fastestOf(page).locator('li').first()).toContainText('shared_multi_leaders');
  });
}

test('a click into the atlas opens the fastest', async ({ page }) => {
  await open(page, '/allreduce');
  await expectPriced(page);
  const { x, y } = await placeOf(atlasOf(page), ATLAS, { ranks: 8, bytes: 1 << 20 });
  await page.mouse.move(x, y);
  const name = (await fastestOf(page).locator('li').first().textContent())?.trim().split(/[ :]/)[0] ?? '';
  await page.mouse.click(x, y);
  await expect(page).toHaveURL(new RegExp(`/allreduce/${name}\\?p=8`));
});

test('the overlay marks where the rules are slow', async ({ page }) => {
  await open(page, '/alltoall?machine=t3e-like');
  await expectPriced(page);
  await drop(page, 'slow.toml', '[[alltoall]]\nalgorithm = "pairwise"\n');
  await expect(chip(page, 'slow.toml')).toBeVisible();
  await expect(atlasOf(page).locator('svg text', { hasText: '×' })).toHaveCount(0);
  await page.getByRole('checkbox', { name: 'Mark where the rules are slow' }).check();
  await expect(atlasOf(page).locator('svg text', { hasText: '×' }).first()).toBeVisible();
  await expect(page).toHaveURL(/overlay=1/);
  await expect(fastestOf(page)).toContainText(/[1-9]\d* of \d+ cells/);
});

test('times are plotted against ranks and against bytes', async ({ page }) => {
  await open(page, '/allreduce');
  await expectPriced(page);
  await expect(page.getByRole('img', { name: 'Times of the algorithms against ranks' })).toBeVisible();
  await page.getByText('The times as a table').click();
  const table = page.getByRole('table', { name: 'Times of the algorithms' });
  await expect(table.getByRole('columnheader', { name: '32', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'against bytes' }).click();
  await expect(page).toHaveURL(/plot=n/);
  await expect(page.getByRole('img', { name: 'Times of the algorithms against bytes' })).toBeVisible();
  await expect(table.getByRole('columnheader', { name: '1 MiB' })).toBeVisible();
  // Hockney's model: log2(16) messages of a MiB, each reduced.
  const seconds = 4 * (1e-6 + (1 << 20) * (1e-10 + 2e-10));
  const row = table.getByRole('row', { name: /^recursive_doubling/ });
  await expect(row).toContainText(`${Number((seconds * 1e3).toPrecision(3))} ms`);
  await page.getByRole('button', { name: /^\S+ allgather_reduce$/ }).click();
  await expect(page).toHaveURL(/hide=allgather_reduce/);
});

test('links restore what was chosen', async ({ page }) => {
  await open(page, '/allreduce?machine=emulated&latency=0.002&ranks_per_node=2&most=16&plot=n&p=8&hide=ring');
  await expectPriced(page);
  await expect(page.getByRole('slider', { name: /latency/ })).toHaveAttribute('aria-valuetext', '2 ms');
  await expect(page.getByRole('img', { name: 'Times of the algorithms against bytes' })).toBeVisible();
  await expect(page.getByRole('button', { name: /^. ring$/ })).toHaveAttribute('aria-pressed', 'false');
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('what a link says amiss is told, and the defaults hold', async ({ page }) => {
  await open(
    page,
    '/alltoall?ranks_per_node=none&machine=abacus&latency=-1&most=17&plot=q&hide=bruck,brook&radix=3',
  );
  const alert = page.getByRole('alert');
  for (const fault of [
    'ranks_per_node none: expected a number from 1 to 1024',
    'machine abacus: expected hockney',
    'latency -1: expected seconds from 0 to 10',
    'most 17: expected 16, 32',
    'plot q: expected p, n',
    'hide brook: expected some of bruck',
    'radix: expected one of machine, latency',
  ]) {
    await expect(alert).toContainText(fault);
  }
  await expectChoice(page, { ranks: 8, bytes: 1 << 10 }, 'linear_window window=32');
});

test('the algorithms lead to their pages', async ({ page }) => {
  await open(page, '/bcast');
  const list = page.getByRole('list', { name: 'The algorithms of MPI_Bcast' });
  await expect(list.getByRole('listitem').filter({ hasText: 'also pipeline)' })).toContainText('chain');
  await list.getByRole('link', { name: 'binomial', exact: true }).click();
  await expect(page).toHaveURL(/\/bcast\/binomial/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('binomial');
  await page.goBack();
  // The page of the algorithm has a link of this name too.
  await expect(page.getByRole('heading', { level: 1, name: 'MPI_Bcast', exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Side by side' }).click();
  await expect(page).toHaveURL(/\/bcast\/compare/);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious on a collective’s page, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await open(page, '/allreduce?overlay=1');
    await expectPriced(page);
    await drop(page, 'bad.toml', '[[alltoall]]\nalgorithm = "brook"\n');
    await expect(page.getByRole('alert')).toBeVisible();
    await expectAccessible(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
  });
}
