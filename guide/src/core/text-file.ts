import { GuideError } from './client';

/** A text whose lines end as those of a text field do. */
export const withPlainLines = (text: string) => text.replace(/\r\n?/g, '\n');

/** The text of a file that holds `what`, which has so many bytes at most. Fails with the file's name if there is none to read. */
export async function readTextFile(file: File, most: number, what: string): Promise<string> {
  if (file.size > most) {
    throw new GuideError(`${file.name} has ${file.size} bytes; ${what} has at most ${most}`);
  }
  const text = decoded(await bytesOf(file));
  if (text === null) throw new GuideError(`${file.name} is not a text in UTF-8`);
  return withPlainLines(text);
}

/** What is dropped may be a folder, or gone by now. */
async function bytesOf(file: File): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer();
  } catch {
    throw new GuideError(`${file.name} cannot be read`);
  }
}

function decoded(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
