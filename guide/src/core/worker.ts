import base64 from 'virtual:guide-wasm';

import { messageOf } from './message';

/** What `crates/guide-questions` exports: a question and its answer are JSON in UTF-8, in the module's memory. */
interface Library {
  memory: WebAssembly.Memory;
  room(length: number): number;
  answer(): number;
  answer_length(): number;
}

export interface Request {
  id: number;
  question: string;
}

/** `failure` is set where the library itself could not answer. */
export interface Response {
  id: number;
  answer?: string;
  failure?: string;
}

let library: Promise<Library> | undefined;

async function load(): Promise<Library> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const { instance } = await WebAssembly.instantiate(bytes, {});
  return instance.exports as unknown as Library;
}

/** Views of the memory are made after each call, for a call may let it grow, which detaches older ones. */
async function answer(question: string): Promise<string> {
  library ??= load();
  const calls = await library;
  const bytes = new TextEncoder().encode(question);
  const room = calls.room(bytes.length);
  new Uint8Array(calls.memory.buffer, room, bytes.length).set(bytes);
  const address = calls.answer();
  const length = calls.answer_length();
  return new TextDecoder().decode(new Uint8Array(calls.memory.buffer, address, length));
}

addEventListener('message', async ({ data: { id, question } }: MessageEvent<Request>) => {
  let response: Response;
  try {
    response = { id, answer: await answer(question) };
  } catch (error) {
    // What trapped may have left its memory in disorder: the next question gets a new module.
    library = undefined;
    response = { id, failure: messageOf(error) };
  }
  postMessage(response);
});
