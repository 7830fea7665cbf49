import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import vuetify from 'vite-plugin-vuetify';

import { embeddedWasm } from './build/embedded-wasm.ts';
import { licencesOf } from './build/licences.ts';
import { paintFirst } from './build/paint-first.ts';

const LICENCES = 'licences.md';

export default defineConfig({
  base: './',
  plugins: [vue(), vuetify(), viteSingleFile(), paintFirst(), licencesOf('guide-questions', LICENCES)],
  worker: { format: 'iife', plugins: () => [embeddedWasm('wasm/guide.wasm')] },
  build: {
    target: 'es2022',
    chunkSizeWarningLimit: 10_000,
    emptyOutDir: false,
    license: { fileName: LICENCES },
  },
});
