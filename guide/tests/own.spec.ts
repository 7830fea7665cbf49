import { readFile } from 'node:fs/promises';

import type { Locator, Page } from '@playwright/test';

import { expectAccessible } from './accessibility.ts';
import { expect, test } from './fixtures.ts';
import { choose, exported, inputLabel, RunOnPage } from './run.ts';

const BCAST = `rank 0 of 2, 1 blocks
0: send to 1 from recv[0]
wait 0

rank 1 of 2, 1 blocks
0: receive from 0 into recv[0]
wait 0
`;

test('what the guide saves, it reads again and judges right', async ({ page }) => {
  await page.goto('/alltoall/bruck?p=4');
  const download = await exported(page, 'Schedule as text');
  const text = await readFile(await download.path(), 'utf8');
  await page.goto('/alltoall/own');
  await page.locator('input[type=file]').setInputFiles({
    name: 'mine.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from(text),
  });
  await expect(page.getByLabel('Verdict')).toContainText('proved that this is right');
  const run = new RunOnPage(page);
  await run.button('Step').click();
  await expect(run.block('Scratch', 1, 0)).toHaveText(inputLabel(1, 1));
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Schedules of all ranks' })).toHaveValue(text);
});

test('a corrupted schedule is judged wrong, with its rank, step and line', async ({ page }) => {
  await page.goto('/alltoall/own');
  await page.getByRole('button', { name: 'Take its schedules' }).click();
  await expect(page.getByLabel('Verdict')).toContainText('proved that this is right');
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  const text = await area.inputValue();
  const lines = text.split('\n');
  const line = lines.findIndex((line) => line.includes('send to'));
  lines[line] = (lines[line] ?? '').replace(/send to \d+/, 'send to 0');
  await area.fill(lines.join('\n'));
  await expect(page.getByLabel('Verdict')).toContainText('The verifier finds a fault.');
  await expect(page.getByLabel('Verdict')).toContainText(/rank \d+/);
  await expect(page.getByRole('list', { name: 'Faults in the text' })).toContainText(/Line \d+/);
});

test('the marked line is that of the step at fault', async ({ page }) => {
  await page.goto('/bcast/own');
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  await area.fill(BCAST.replace('0: receive from 0 into recv[0]\nwait 0\n', '# nothing is received\n'));
  await expect(page.getByLabel('Verdict')).toContainText(
    'rank 0, step 0: unmatched send of recv[0] to rank 1',
  );
  await expect(page.locator('[data-line="2"]')).toBeAttached();
  const faults = page.getByRole('list', { name: 'Faults in the text' });
  await faults.getByRole('button', { name: 'Line 2' }).click();
  await expect(area).toBeFocused();
  await area.fill(BCAST);
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await expect(faults).toBeHidden();
});

test('the marked line is found in whatever order the ranks stand', async ({ page }) => {
  const [first = '', second = ''] = BCAST.split('\n\n');
  await page.goto('/bcast/own');
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  await area.fill(`${second.trim()}\n\n${first}\n`);
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await area.fill(`rank 1 of 2, 1 blocks\n\n${first}\n`);
  await expect(page.getByLabel('Verdict')).toContainText('rank 0, step 0');
  await expect(page.locator('[data-line="4"]')).toBeAttached();
});

async function expectOneMark(page: Page, line: number): Promise<void> {
  await expect(page.locator('[data-line]')).toHaveAttribute('data-line', String(line));
}

test('a fault in a loop is marked at the line of its step', async ({ page }) => {
  await page.goto('/allgather/own');
  await choose(page.getByRole('combobox', { name: 'Start from' }), 'ring');
  await choose(page.getByRole('combobox', { name: 'Processes' }), '8');
  await page.getByRole('button', { name: 'Take its schedules' }).click();
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  await area.fill((await area.inputValue()).replace('3: send to 1 ', '3: send to 0 '));
  await expectOneMark(page, 8);
});

test('a fault of a file for any root is marked in the program that the rank runs', async ({ page }) => {
  const head = 'rustcoll schedule, version 1\ncollective bcast\nname mine\nroot any\n\n';
  const text = encodeURIComponent(head + BCAST.replace('wait 0\n', ''));
  await page.goto(`/bcast/own?root=1&text=${text}`);
  await expect(page.getByLabel('Verdict')).toContainText('rank 1');
  await expectOneMark(page, 7);
});

test('a fault of a program for any number of ranks is marked', async ({ page }) => {
  const program = `rustcoll schedule, version 1
collective allgather
name mine
rank any of 5, size blocks
copy send[rank] to recv[rank]
for round in 0..size - 1
send to (rank + round) % size from recv[(rank - round) % size]
receive from (rank - 1) % size into recv[(rank - round - 1) % size]
wait
end
`;
  await page.goto(`/allgather/own?text=${encodeURIComponent(program)}`);
  await expectOneMark(page, 7);
});

test('a text that is no schedule is marked where it goes wrong', async ({ page }) => {
  await page.goto('/bcast/own');
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  await area.fill(BCAST);
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await area.fill(BCAST.replace('1 from recv', '1 frm recv'));
  const faults = page.getByRole('list', { name: 'Faults in the text' });
  await expect(faults).toContainText('expected "from", found "frm"');
  await expect(faults.locator('mark')).toHaveText('frm');
  await expect(page.getByText('1 fault, in line 2')).toHaveRole('status');
  await expect(area).toHaveAccessibleDescription('1 fault, in line 2');
  await expect(area).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByText('Below is the run from before this fault')).toBeVisible();
});

test('a short schedule is in the link, with its root', async ({ page }) => {
  await page.goto(`/bcast/own?text=${encodeURIComponent(BCAST)}`);
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  const run = new RunOnPage(page);
  await run.expectStep(0, 1);
  await run.button('Step').click();
  await expect(run.block('Receive buffer', 1, 0)).toHaveText(inputLabel(0, 0));
  await page.getByRole('spinbutton', { name: 'Root' }).fill('1');
  await expect(page.getByLabel('Verdict')).toContainText('finds a fault');
  await expect(page).toHaveURL(/root=1/);
  await page.getByRole('spinbutton', { name: 'Root' }).fill('7');
  await expect(page.locator('main')).toContainText('root 7: ranks are numbered from 0 to 1');
});

test('a root where there is none is said', async ({ page }) => {
  await page.goto(`/alltoall/own?root=1&text=${encodeURIComponent(BCAST)}`);
  await expect(page.getByRole('alert')).toContainText('root');
});

test('an option in a link is taken as it is said, or refused', async ({ page }) => {
  const text = encodeURIComponent(BCAST);
  await page.goto(`/allreduce/own?in_place=true&text=${text}`);
  await expect(page.getByRole('checkbox', { name: 'In place' })).toBeChecked();
  await page.goto(`/allreduce/own?in_place=yes&text=${text}`);
  await expect(page.getByRole('alert')).toContainText('in_place yes: expected 1 or 0');
  await expect(page.getByRole('checkbox', { name: 'In place' })).not.toBeChecked();
});

test('a kept text is in the link again', async ({ page }) => {
  await page.goto('/bcast/own');
  await page.getByRole('textbox', { name: 'Schedules of all ranks' }).fill(BCAST);
  await expect(page).toHaveURL(/text=rank/);
  await page.goto('/bcast/own');
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await expect(page).toHaveURL(/text=rank/);
});

test('options of the call change the verdict', async ({ page }) => {
  await page.goto('/allreduce/own');
  await choose(page.getByRole('combobox', { name: 'Start from' }), 'ring');
  await page.getByRole('button', { name: 'Take its schedules' }).click();
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await page.getByRole('checkbox', { name: 'Operands in the order of ranks' }).check();
  await expect(page.getByLabel('Verdict')).toContainText('finds a fault');
  await page.getByRole('checkbox', { name: 'Operands in the order of ranks' }).uncheck();
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await page.getByRole('checkbox', { name: 'In place' }).check();
  await expect(page.getByLabel('Verdict')).toContainText('finds a fault');
});

for (const collective of ['neighbor_alltoall', 'barrier', 'reduce', 'alltoallw']) {
  test(`the example of ${collective} is right`, async ({ page }) => {
    await page.goto(`/${collective}/own`);
    await page.getByRole('button', { name: 'Take its schedules' }).click();
    await expect(page.getByLabel('Verdict')).toContainText('is right');
  });
}

test('another text has no verdict until it is read, and stops the run', async ({ page }) => {
  await page.clock.install();
  await page.goto('/alltoall/own?speed=0.5');
  await page.getByRole('button', { name: 'Take its schedules' }).click();
  const verdict = page.getByLabel('Verdict');
  await expect(verdict).toContainText('is right');
  const run = new RunOnPage(page);
  await run.button('Play').click();
  await expect(run.button('Stop')).toBeEnabled();
  await page.clock.pauseAt(Date.now() + 3600_000);
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  await area.fill((await area.inputValue()).replace(/send to \d+/, 'send to 0'));
  await expect(page.getByText('The verifier reads the text.')).toBeVisible();
  await expect(verdict).toBeHidden();
  await expect(run.button('Stop')).toBeDisabled();
  await page.clock.resume();
  await expect(verdict).toContainText('finds a fault');
});

test('a neighbourhood is a closed ring, as the page says', async ({ page }) => {
  await page.goto('/neighbor_alltoall/own');
  await expect(page.getByText('The ranks are on a closed ring here')).toBeVisible();
  await page.goto('/alltoall/own');
  await expect(page.getByRole('button', { name: 'Take its schedules' })).toBeVisible();
  await expect(page.getByText('closed ring')).toHaveCount(0);
});

async function dropOn(target: Locator, text: string): Promise<void> {
  const data = await target.page().evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'dropped.txt', { type: 'text/plain' }));
    return data;
  }, text);
  await target.dispatchEvent('drop', { dataTransfer: data });
}

test('a file can be dropped on the text, and beside it', async ({ page }) => {
  await page.goto('/bcast/own');
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  await dropOn(area, BCAST);
  await expect(area).toHaveValue(BCAST);
  await expect(page.getByLabel('Verdict')).toContainText('is right');
  await dropOn(page.getByRole('heading', { level: 1 }), '# another\n');
  await expect(area).toHaveValue('# another\n');
});

test('a file whose lines end as on Windows is marked at the right place', async ({ page }) => {
  await page.goto('/bcast/own');
  const area = page.getByRole('textbox', { name: 'Schedules of all ranks' });
  await dropOn(area, BCAST.replace('wait 0', 'wiat 0').replaceAll('\n', '\r\n'));
  await page.getByRole('button', { name: 'Line 3' }).click();
  const selected = () => {
    const { value, selectionStart, selectionEnd } = document.querySelector('textarea') ?? {};
    return value?.slice(selectionStart, selectionEnd);
  };
  expect(await page.evaluate(selected)).toBe('wiat 0');
});

test('files that are no texts are refused', async ({ page }) => {
  await page.goto('/bcast/own');
  const input = page.locator('input[type=file]');
  await input.setInputFiles({
    name: 'a.bin',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from([1, 0, 2]),
  });
  await expect(page.getByRole('alert')).toContainText('a.bin is not a text');
  await input.setInputFiles({
    name: 'b.txt',
    mimeType: 'text/plain',
    buffer: Buffer.alloc(2 ** 18 + 1, 'a'),
  });
  await expect(page.getByRole('alert')).toContainText('b.txt has 262145 bytes');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious on the page of one’s own schedule, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto(`/bcast/own?text=${encodeURIComponent(BCAST.replace('wait 0\n', ''))}`);
    await expect(page.getByLabel('Verdict')).toBeVisible();
    await expectAccessible(page);
  });
}
