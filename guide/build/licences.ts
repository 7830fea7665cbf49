import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Plugin } from 'vite';

interface Package {
  id: string;
  name: string;
  version: string;
  license: string | null;
  manifest_path: string;
  targets: { kind: string[] }[];
}

interface Metadata {
  packages: Package[];
  resolve: { nodes: { id: string; deps: { pkg: string; dep_kinds: { kind: string | null }[] }[] }[] };
}

function metadata(): Metadata {
  const line = ['metadata', '--format-version', '1', '--filter-platform', 'wasm32-unknown-unknown'];
  const printed = execFileSync(process.env.CARGO ?? 'cargo', line, { maxBuffer: 1 << 28, encoding: 'utf8' });
  return JSON.parse(printed) as Metadata;
}

/** A crate and all that is linked with it: what runs only in the compiler does not count. */
function linked(name: string): Package[] {
  const { packages, resolve } = metadata();
  const found = new Map<string, Package>();
  const visit = (crate: Package | undefined) => {
    if (!crate || found.has(crate.id) || crate.targets.some(({ kind }) => kind.includes('proc-macro')))
      return;
    found.set(crate.id, crate);
    for (const { pkg, dep_kinds } of resolve.nodes.find(({ id }) => id === crate.id)?.deps ?? []) {
      if (dep_kinds.some(({ kind }) => kind === null)) visit(packages.find(({ id }) => id === pkg));
    }
  };
  visit(packages.find((crate) => crate.name === name));
  return [...found.values()].sort((one, other) => one.name.localeCompare(other.name));
}

/** Of several licences to choose from, the MIT licence. */
function notice(crate: Package): string {
  const folder = dirname(crate.manifest_path);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying)/i.test(file));
  const file = files.find((file) => /mit/i.test(file)) ?? files[0];
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `\n## ${crate.name} - ${crate.version} (${crate.license ?? 'no licence named'})\n${text}`;
}

/** Appends the licences of a crate's WebAssembly to those that Vite lists of the page's packages. */
export function licencesOf(crate: string, fileName: string): Plugin {
  return {
    name: 'licences-of-crates',
    apply: 'build',
    writeBundle({ dir }) {
      const file = join(dir ?? '', fileName);
      if (!existsSync(file)) return this.error(`${file} is missing`);
      appendFileSync(
        file,
        `\n# Licences of the crates in the page's WebAssembly\n${linked(crate).map(notice).join('')}`,
      );
    },
  };
}
