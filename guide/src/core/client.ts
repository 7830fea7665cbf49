import type { Answers } from './types/Answers';
import type { Failure } from './types/Failure';
import type { Questions } from './types/Questions';
import type { TextPlace } from './types/TextPlace';
import type { Request, Response } from './worker';
import LibraryWorker from './worker?worker&inline';

/** Why a question has no answer: what is wrong, in which field of the question or at which places of a text. */
export class GuideError extends Error {
  constructor(
    message: string,
    readonly field: string | null = null,
    readonly places: TextPlace[] = [],
  ) {
    super(message);
    this.name = 'GuideError';
  }
}

type Reply<Kind extends keyof Answers> = { ok: Answers[Kind] } | { error: Failure };

interface Waiting {
  resolve(answer: string): void;
  reject(error: GuideError): void;
}

/** The library in a worker of its own, which is started by the first question and answers one after the other. */
export class Library {
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #lastId = 0;

  /** Rejects with a GuideError. `heard` is told how long the answer is, in characters. */
  async ask<Kind extends keyof Questions>(
    kind: Kind,
    body: Questions[Kind],
    heard?: (length: number) => void,
  ): Promise<Answers[Kind]> {
    const text = await this.#send(JSON.stringify({ [kind]: body }));
    heard?.(text.length);
    const reply = JSON.parse(text) as Reply<Kind>;
    if ('ok' in reply) return reply.ok;
    throw new GuideError(reply.error.message, reply.error.field, reply.error.places);
  }

  /** Gives up what it is at: these questions have no answers. The next one starts it anew. */
  stop(): void {
    this.#worker?.terminate();
    this.#fail('The question was given up.');
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  #start(): Worker {
    const started = new LibraryWorker();
    started.onmessage = ({ data: { id, answer, failure } }: MessageEvent<Response>) => {
      const asker = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (answer !== undefined) asker?.resolve(answer);
      else asker?.reject(new GuideError(`The library could not answer: ${failure ?? 'no reason given'}.`));
    };
    started.onerror = ({ message }) => this.#fail(`The library could not be started: ${message}.`);
    return started;
  }

  #fail(message: string): void {
    this.#worker = undefined;
    this.#waiting.forEach(({ reject }) => reject(new GuideError(message)));
    this.#waiting.clear();
  }

  #send(question: string): Promise<string> {
    const worker = (this.#worker ??= this.#start());
    const request: Request = { id: ++this.#lastId, question };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      worker.postMessage(request);
    });
  }
}

const library = new Library();

/** So many characters of answers are kept. */
const MOST_KEPT = 2 ** 24;

interface Kept {
  answer: Promise<unknown>;
  /** 0 as long as the answer is under way. */
  length: number;
}

/** The oldest first. */
const kept = new Map<string, Kept>();

function forgetOldest(): void {
  let total = [...kept.values()].reduce((sum, { length }) => sum + length, 0);
  for (const [question, { length }] of kept) {
    if (total <= MOST_KEPT) return;
    kept.delete(question);
    total -= length;
  }
}

/**
 * Asks the library. The answer depends on the question alone, so the latest ones are kept; do not change what you get.
 * Rejects with a GuideError.
 */
export function ask<Kind extends keyof Questions>(kind: Kind, body: Questions[Kind]): Promise<Answers[Kind]> {
  const question = JSON.stringify({ [kind]: body });
  const known = kept.get(question);
  if (known) {
    kept.delete(question);
    kept.set(question, known);
    return known.answer as Promise<Answers[Kind]>;
  }
  const answer = library.ask(kind, body, (length) => {
    made.length = length;
    forgetOldest();
  });
  const made: Kept = { answer, length: 0 };
  kept.set(question, made);
  answer.catch(() => kept.delete(question));
  return answer;
}
