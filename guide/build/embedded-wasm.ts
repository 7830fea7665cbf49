import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { Plugin } from 'vite';

const MODULE = 'virtual:guide-wasm';
const RESOLVED = `\0${MODULE}`;

/** Lets `virtual:guide-wasm` export a WebAssembly module in base64: a page opened from a file may not fetch one. */
export function embeddedWasm(path: string): Plugin {
  let file = path;
  return {
    name: 'embedded-wasm',
    configResolved(config) {
      file = resolve(config.root, path);
    },
    resolveId: (id) => (id === MODULE ? RESOLVED : undefined),
    load(id) {
      if (id !== RESOLVED) return undefined;
      if (!existsSync(file)) return this.error(`${file} is missing; make guide builds it`);
      this.addWatchFile(file);
      return `export default ${JSON.stringify(readFileSync(file, 'base64'))};`;
    },
  };
}
