/**
 * Collects the items of many callers into batches. One batch runs at a time. Items
 * that arrive while no batch runs start at once; items that arrive during a batch
 * go into the next one. A batch has at most `limit` items, shared equally among the
 * waiting callers, so that a million items of one caller do not delay the single
 * item of another.
 */
export class MicroBatcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #limit: number;
  #waiting: Request<Item, Result>[] = [];
  /** The running batch. */
  #batch: readonly Part<Item, Result>[] = [];
  #busy = false;

  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>, limit: number) {
    this.#run = run;
    this.#limit = limit;
  }

  /** Resolves with the results in the order of the items. */
  submit(items: readonly Item[]): Promise<Result[]> {
    if (items.length === 0) return Promise.resolve([]);
    const { promise, resolve, reject } = Promise.withResolvers<Result[]>();
    this.#waiting.push({ items, taken: 0, left: items.length, results: [], resolve, reject });
    if (!this.#busy) void this.#work();
    return promise;
  }

  /** Rejects all waiting and running requests. The results of the running batch are ignored. */
  fail(error: Error): void {
    for (const { reject } of this.#waiting) reject(error);
    for (const { request } of this.#batch) request.reject(error);
    this.#waiting = [];
    this.#batch = [];
  }

  async #work(): Promise<void> {
    this.#busy = true;
    await undefined; // synchronous calls of `submit` form one batch
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

  /** Takes the next batch. A request with more items than its share returns to the end of the queue. */
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
  /** Items that were put into a batch. */
  taken: number;
  /** Items without a result. */
  left: number;
  readonly results: Result[];
  readonly resolve: (results: Result[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Items `first` to `end - 1` of a request. */
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
