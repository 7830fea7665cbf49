import { type Download, expect, type Locator, type Page } from '@playwright/test';

/** What a test sees of a run that is drawn within some part of the page. */
export class RunOnPage {
  constructor(
    readonly page: Page,
    readonly within: Locator = page.locator('main'),
  ) {}

  button(name: string): Locator {
    return this.page.getByRole('region', { name: 'Steps' }).getByRole('button', { name, exact: true });
  }

  get place(): Locator {
    return this.page.getByLabel('Where the run is');
  }

  get slider(): Locator {
    return this.page.getByRole('slider', { name: 'Step' });
  }

  get words(): Locator {
    return this.within.getByRole('region', { name: 'This step' });
  }

  get whole(): Locator {
    return this.within.getByRole('region', { name: 'The whole run' });
  }

  panel(title: string): Locator {
    return this.within.locator(`svg[data-title="${title}"]`);
  }

  block(title: string, rank: number, block: number): Locator {
    return this.panel(title).locator(`g[data-rank="${rank}"][data-block="${block}"]`);
  }

  message(source: number, target: number): Locator {
    return this.panel('Messages').locator(`g[data-source="${source}"][data-target="${target}"]`);
  }

  async expectStep(step: number, length: number): Promise<void> {
    await expect(this.place).toHaveText(`Step ${step} of ${length}`);
  }

  /** The row of a total: its number in this step and up to now. */
  async expectTotal(name: string, now: number, all: number): Promise<void> {
    await expect(this.words.getByRole('row', { name })).toHaveText(
      new RegExp(`^${name}\\s*${now}\\s*${all}$`),
    );
  }

  /** All labels of a panel, rank after rank. */
  async labels(title: string): Promise<string[]> {
    const texts = await this.panel(title).locator('g[data-rank] text').allTextContents();
    return texts.map((text) => text.trim());
  }
}

/**
 * Chooses an item of a closed list by the letters that it begins with: an opening menu may miss a click on a busy machine.
 * All letters come at once: the list forgets those before a pause of a second, and a busy machine makes such pauses.
 */
export async function choose(list: Locator, item: string): Promise<void> {
  await list.focus();
  await list.evaluate((element, letters) => {
    for (const key of letters) element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  }, item.split(' ')[0]!);
}

/** Chooses from the menu "Export" once it is open, by key for the same reason. */
export async function exportAs(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Export' }).click();
  const offered = page.locator('.v-list-item').filter({ hasText: item });
  await expect(offered).toBeVisible();
  await offered.press('Enter');
}

/** The file that the page saves when this item of the menu "Export" is chosen. */
export async function exported(page: Page, item: string): Promise<Download> {
  const [download] = await Promise.all([page.waitForEvent('download'), exportAs(page, item)]);
  return download;
}

/** What stands in a block that is a rank's input. */
export function inputLabel(rank: number, block: number): string {
  return `${rank}${subscript(block)}`;
}

export function subscript(number: number): string {
  return String(number).replace(/\d/g, (digit) => String.fromCodePoint(0x2080 + Number(digit)));
}

export const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
