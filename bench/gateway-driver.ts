import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type Dispatcher, Pool } from "undici";

/** A server to which requests are sent. */
export interface Target {
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

/** Milliseconds of one request, until the first byte and until the end of the response. */
interface Times {
  readonly first: number;
  readonly whole: number;
}

/** Sends chat requests. No two prompts are equal. */
export class Driver {
  readonly #questions: readonly string[];
  readonly #pools = new Map<string, Pool>();
  #sent = 0;

  constructor(questions: readonly string[]) {
    this.#questions = questions;
  }

  /** Sends one request after the other over one connection. Streams are short, because only their first chunk is measured. */
  async sequential(target: Target, stream: boolean, seconds: number): Promise<Times[]> {
    const until = performance.now() + 1000 * seconds;
    const more = () => performance.now() < until;
    return this.#work(target, stream ? { stream, max_tokens: 10 } : {}, more);
  }

  /** Requests per second with a number of concurrent requests. */
  async rate(target: Target, stream: boolean, seconds: number, concurrency = 16): Promise<number> {
    const start = performance.now();
    const until = start + 1000 * seconds;
    const more = () => performance.now() < until;
    const members = stream ? { stream } : {};
    const workers = Array.from({ length: concurrency }, () => this.#work(target, members, more));
    const done = (await Promise.all(workers)).flat().length;
    return (1000 * done) / (performance.now() - start);
  }

  /** Sends streams that the mock upstream sends with pauses between the chunks, 16 at the same time. */
  async paced(target: Target, seconds: number): Promise<Times[]> {
    const until = performance.now() + 1000 * seconds;
    const more = () => performance.now() < until;
    const members = { stream: true, max_tokens: 20, user: "paced" };
    const workers = Array.from({ length: 16 }, () => this.#work(target, members, more));
    return (await Promise.all(workers)).flat();
  }

  /** Sends one request over a connection that is kept open. */
  send(target: Target, stream: boolean): Promise<Times> {
    const pool = this.#pools.get(target.origin) ?? new Pool(target.origin, { pipelining: 1 });
    this.#pools.set(target.origin, pool);
    return post(pool, target, this.#body(target, stream ? { stream } : {}));
  }

  /**
   * Sends requests at a fixed rate, whether earlier ones have been answered or not, until the signal. Every
   * `streamEvery`-th one is a stream. Returns the times of those that were answered, and the number of the others.
   */
  async atRate(
    target: Target,
    rate: number,
    signal: AbortSignal,
    streamEvery = Infinity,
  ): Promise<{ readonly times: number[]; readonly failed: number }> {
    const start = performance.now();
    const times: number[] = [];
    const pending = new Set<Promise<void>>();
    let [sent, failed] = [0, 0];
    const sendOne = () => {
      const one = this.send(target, ++sent % streamEvery === 0)
        .then(
          ({ whole }) => void times.push(whole),
          () => {
            failed++;
          },
        )
        .finally(() => pending.delete(one));
      pending.add(one);
    };
    for (; !signal.aborted; await sleep(1)) {
      while (sent < (rate * (performance.now() - start)) / 1000) sendOne();
    }
    await Promise.all(pending);
    return { times, failed };
  }

  /** Sends a number of requests, 16 at the same time. */
  async sendMany(target: Target, requests: number): Promise<void> {
    let left = requests;
    const more = () => left-- > 0;
    await Promise.all(Array.from({ length: 16 }, () => this.#work(target, {}, more)));
  }

  async #work(target: Target, members: object, more: () => boolean): Promise<Times[]> {
    const client = new Client(target.origin, { pipelining: 1, bodyTimeout: 60_000 });
    const times: Times[] = [];
    while (more()) times.push(await post(client, target, this.#body(target, members)));
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

/** A driver that sends the bundled questions. */
export async function createDriver(): Promise<Driver> {
  const text = await readFile(new URL("../data/queries.jsonl", import.meta.url), "utf8");
  const lines = text.trim().split("\n");
  return new Driver(lines.map((line) => (JSON.parse(line) as { query: string }).query));
}

function post(client: Dispatcher, { headers }: Target, body: string): Promise<Times> {
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
        else fail(new Error(`the server responded with status ${status}`));
      },
      onResponseError(_, error) {
        fail(error);
      },
    };
    const path = "/v1/chat/completions";
    const allHeaders = { ...headers, "content-type": "application/json" };
    client.dispatch({ method: "POST", path, headers: allHeaders, body }, handler);
  });
}
