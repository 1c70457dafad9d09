/**
 * Items of many callers, worked on together. One batch runs at a time: what
 * comes when none runs waits for nothing, and what comes while one runs goes
 * together into the next. A batch has at most `limit` items, of which every
 * waiting caller gets its share: a million items of one caller do not keep out
 * the single one of another, and all but the batch that runs stay where they are.
 */
export class MicroBatcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #limit: number;
  #waiting: Request<Item, Result>[] = [];
  /** The batch that runs. */
  #batch: readonly Part<Item, Result>[] = [];
  #busy = false;

  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>, limit: number) {
    this.#run = run;
    this.#limit = limit;
  }

  /** The results of the items, in their order. */
  submit(items: readonly Item[]): Promise<Result[]> {
    if (items.length === 0) return Promise.resolve([]);
    const { promise, resolve, reject } = Promise.withResolvers<Result[]>();
    this.#waiting.push({ items, taken: 0, left: items.length, results: [], resolve, reject });
    if (!this.#busy) void this.#work();
    return promise;
  }

  /** Whoever waits gets the error; what the batch that runs still gives is dropped. */
  fail(error: Error): void {
    for (const { reject } of this.#waiting) reject(error);
    for (const { request } of this.#batch) request.reject(error);
    this.#waiting = [];
    this.#batch = [];
  }

  async #work(): Promise<void> {
    this.#busy = true;
    await undefined; // calls made in one go are one batch
    while (this.#waiting.length > 0) {
      this.#batch = this.#take();
      const items = this.#batch.flatMap(({ request, first, end }) =>
        request.items.slice(first, end),
      );
      try {
        const results = await this.#run(items);
        deliver(this.#batch, results);
      } catch (error) {
        const failed = new Set(this.#batch.map(({ request }) => request));
        for (const { reject } of failed) reject(error);
        this.#waiting = this.#waiting.filter((request) => !failed.has(request));
      }
    }
    this.#batch = [];
    this.#busy = false;
  }

  /** Who has more than its share goes to the end of the queue with the rest. */
  #take(): Part<Item, Result>[] {
    const parts: Part<Item, Result>[] = [];
    let room = this.#limit;
    while (room > 0 && this.#waiting.length > 0) {
      const share = Math.ceil(room / this.#waiting.length);
      const request = this.#waiting.shift()!;
      const first = request.taken;
      request.taken = Math.min(first + share, request.items.length);
      parts.push({ request, first, end: request.taken });
      room -= request.taken - first;
      if (request.taken < request.items.length) this.#waiting.push(request);
    }
    return parts;
  }
}

interface Request<Item, Result> {
  readonly items: readonly Item[];
  /** How many are in a batch or were, and how many have no result yet. */
  taken: number;
  left: number;
  readonly results: Result[];
  readonly resolve: (results: Result[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Items first .. end - 1 of a request. */
interface Part<Item, Result> {
  readonly request: Request<Item, Result>;
  readonly first: number;
  readonly end: number;
}

function deliver<Item, Result>(
  parts: readonly Part<Item, Result>[],
  results: readonly Result[],
): void {
  let at = 0;
  for (const { request, first, end } of parts) {
    for (let i = first; i < end; i++) request.results[i] = results[at++]!;
    request.left -= end - first;
    if (request.left === 0) request.resolve(request.results);
  }
}
