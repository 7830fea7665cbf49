import { defineConfig, devices } from '@playwright/test';

import { browser, COMMAND, URL } from './tests/environment.ts';

/** What may differ where there is little room or no mouse; the rest is the same program. */
const NARROW =
  /axe.*(light|side)|finger|the home page (shows|leads)|breadcrumbs|bruck with radix 3|play, stop|controls change|stepped together|on the map as|no schedule is marked/;

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  // Failures are told at the end, where the last lines of a long log show them.
  reporter: 'dot',
  use: { baseURL: URL, launchOptions: browser },
  webServer: {
    command: COMMAND,
    url: URL,
    cwd: '..',
    reuseExistingServer: false,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5000 },
  },
  projects: [
    { name: 'desktop', use: { ...devices['Desktop Chrome'], viewport: { width: 1280, height: 900 } } },
    { name: 'phone', use: { ...devices['Pixel 7'] }, grep: NARROW },
  ],
});
