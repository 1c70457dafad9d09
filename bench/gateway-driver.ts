import { readFile } from "node:fs/promises";
import { Client, type Dispatcher, Pool } from "undici";

/** Where requests are sent, and with which headers. */
export interface Target {
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

/** Milliseconds of one request. */
interface Times {
  readonly first: number;
  readonly whole: number;
}

/** Sends chat requests; no two prompts are alike. */
export class Driver {
  readonly #questions: readonly string[];
  readonly #pools = new Map<string, Pool>();
  #sent = 0;

  constructor(questions: readonly string[]) {
    this.#questions = questions;
  }

  /** One after another, over one connection, for so long. Streams are short: it is their first chunk that counts. */
  async oneByOne(target: Target, stream: boolean, seconds: number): Promise<Times[]> {
    const until = performance.now() + 1000 * seconds;
    const more = () => performance.now() < until;
    return this.#work(target, stream ? { stream, max_tokens: 10 } : {}, more);
  }

  /** Requests a second with so many under way at once. */
  async rate(target: Target, stream: boolean, seconds: number, atOnce = 16): Promise<number> {
    const start = performance.now();
    const until = start + 1000 * seconds;
    const more = () => performance.now() < until;
    const members = stream ? { stream } : {};
    const workers = Array.from({ length: atOnce }, () => this.#work(target, members, more));
    const done = (await Promise.all(workers)).flat().length;
    return (1000 * done) / (performance.now() - start);
  }

  /** One request, over connections that are kept. */
  one(target: Target, stream: boolean): Promise<Times> {
    const pool = this.#pools.get(target.origin) ?? new Pool(target.origin, { pipelining: 1 });
    this.#pools.set(target.origin, pool);
    return ask(pool, target, this.#body(target, stream ? { stream } : {}));
  }

  /** So many requests, 16 at once. */
  async count(target: Target, requests: number): Promise<void> {
    let left = requests;
    const more = () => left-- > 0;
    await Promise.all(Array.from({ length: 16 }, () => this.#work(target, {}, more)));
  }

  async #work(target: Target, members: object, more: () => boolean): Promise<Times[]> {
    const client = new Client(target.origin, { pipelining: 1, bodyTimeout: 60_000 });
    const times: Times[] = [];
    while (more()) times.push(await ask(client, target, this.#body(target, members)));
    await client.close();
    return times;
  }

  #body({ model }: Target, members: object): string {
    const n = this.#sent++;
    const content = `${this.#questions[n % this.#questions.length]} (${n})`;
    const messages = [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content },
    ];
    return JSON.stringify({ model, ...members, messages, temperature: 0.7 });
  }
}

/** With the project's own questions. */
export async function driverOfQuestions(): Promise<Driver> {
  const text = await readFile(new URL("../data/queries.jsonl", import.meta.url), "utf8");
  const lines = text.trim().split("\n");
  return new Driver(lines.map((line) => (JSON.parse(line) as { query: string }).query));
}

function ask(client: Dispatcher, { headers }: Target, body: string): Promise<Times> {
  return new Promise((done, fail) => {
    const start = performance.now();
    let first = Number.NaN;
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_, code) {
        status = code;
      },
      onResponseData() {
        if (Number.isNaN(first)) first = performance.now() - start;
      },
      onResponseEnd() {
        if (status === 200) done({ first, whole: performance.now() - start });
        else fail(new Error(`answered ${status}`));
      },
      onResponseError(_, error) {
        fail(error);
      },
    };
    const path = "/v1/chat/completions";
    const all = { ...headers, "content-type": "application/json" };
    client.dispatch({ method: "POST", path, headers: all, body }, handler);
  });
}
