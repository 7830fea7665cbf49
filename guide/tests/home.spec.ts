import { expectAccessible } from './accessibility.ts';
import { expect, test } from './fixtures.ts';

test('the home page shows all collectives with what they do', async ({ page }) => {
  await page.goto('/');
  for (const group of [
    'One to all',
    'All to one',
    'All to all',
    'Reductions for all',
    'Scans',
    'Neighbourhoods',
  ]) {
    await expect(page.getByRole('region', { name: group })).toBeVisible();
  }
  await expect(page.getByRole('link', { name: /^MPI_/ })).toHaveCount(22);
  const alltoall = page.getByRole('link', { name: /MPI_Alltoall / });
  await expect(alltoall).toContainText(/\d+ algorithms/);
  await expect(alltoall.locator('svg rect')).toHaveCount(32);
  await alltoall.click();
  await expect(page).toHaveURL(/\/alltoall$/);
});

test('search finds collectives, algorithms and their other names', async ({ page }) => {
  await page.goto('/');
  const search = page.getByRole('searchbox', { name: 'Find a collective or an algorithm' });
  await search.fill('MPI_Reduce-Scatter');
  const found = page.getByRole('list', { name: 'What was found' });
  await expect(found.getByRole('link').first()).toHaveText('MPI_Reduce_scatter');
  await search.fill('bruck');
  await expect(found.getByRole('link', { name: 'alltoall bruck', exact: true })).toBeVisible();
  await search.fill('pipeline');
  await expect(found.getByRole('link', { name: /^bcast chain/ })).toContainText('also called pipeline');
  await expect(page.getByRole('status')).toHaveText(/^\d+ found$/);
  await search.fill('nonsense');
  await expect(page.getByText('No collective or algorithm has a name with “nonsense” in it.')).toBeVisible();
  await search.fill('rabenseifner');
  await found.getByRole('link', { name: 'allreduce rabenseifner', exact: true }).click();
  await expect(page).toHaveURL(/\/allreduce\/rabenseifner/);
});

test('the home page leads to the reader’s own schedule and rules', async ({ page }) => {
  await page.goto('/');
  await page
    .getByRole('region', { name: 'Your own' })
    .getByRole('link', { name: /A schedule/ })
    .click();
  await expect(page).toHaveURL(/\/own$/);
  await page.goBack();
  await page.getByRole('link', { name: /A rule file/ }).click();
  await expect(page).toHaveURL(/\/alltoall$/);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious on the home page, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto('/');
    await expect(page.getByRole('link', { name: /MPI_Alltoall / }).locator('svg')).toBeVisible();
    await expectAccessible(page);
  });
}
