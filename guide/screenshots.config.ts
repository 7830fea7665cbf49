import { defineConfig } from '@playwright/test';

import config from './playwright.config.ts';

/** Takes the pictures of docs/guide. */
export default defineConfig({
  ...config,
  testMatch: 'screenshots.ts',
  outputDir: 'node_modules/.cache/screenshots',
  projects: undefined,
  workers: 1,
});
