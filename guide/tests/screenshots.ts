import { devices, type Page } from '@playwright/test';

import { expect, test } from './fixtures.ts';

/** The pictures of docs/guide: what is shown, what has to be there before it is, and how high the picture is. */
const PICTURES = [
  { name: 'home', path: '/', waitFor: 'a[href="/alltoall"] svg', height: 900 },
  { name: 'decision-map', path: '/allreduce', waitFor: 'main svg path[fill^="#"]', height: 900 },
  { name: 'algorithm', path: '/alltoall/bruck?p=8&r=3&step=2', waitFor: 'main svg', height: 1450 },
  {
    name: 'side-by-side',
    path: '/alltoall/compare?a=bruck&b=spread_out&p=8&step=2',
    waitFor: 'main svg',
    height: 900,
  },
];

for (const { name, path, waitFor, height } of PICTURES) {
  test(name, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height });
    await page.goto(path);
    await expect(page.locator(waitFor).first()).toBeVisible();
    await shoot(page, name);
  });
}

test.describe('on a phone', () => {
  const { viewport, isMobile, hasTouch } = devices['Pixel 7'];
  test.use({ viewport, isMobile, hasTouch });

  test('phone', async ({ page }) => {
    await page.goto('/allreduce/rabenseifner?p=8&step=3');
    await expect(page.locator('main svg').first()).toBeVisible();
    await shoot(page, 'phone');
  });
});

/** Pictures are taken when all has come to rest. */
async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: `../docs/guide/${name}.png`, animations: 'disabled' });
}
