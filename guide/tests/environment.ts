import { getuid } from 'node:process';

/** The port of the guide that is tested. */
const PORT = process.env.GUIDE_PORT ?? '8399';

export const URL = `http://127.0.0.1:${PORT}/`;

/** The command that is tested. */
export const RUSTCOLL = process.env.RUSTCOLL ?? 'target/release/rustcoll';

/** What serves the guide; another command may, for instance Vite's. */
export const COMMAND = process.env.GUIDE_COMMAND ?? `${RUSTCOLL} guide --no-open --port ${PORT}`;

/** Debian's Chromium, or another one. Root must do without its sandbox. */
export const browser = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: getuid?.() === 0 ? ['--no-sandbox'] : [],
};
