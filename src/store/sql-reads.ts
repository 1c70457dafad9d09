import * as queries from "./queries.ts";
import type { PageQuery, TallyQuery } from "./store.ts";

/** The reading half of a store: the same for both databases but for what their errors mean. */
export class SqlReads {
  readonly #db: queries.Database;
  readonly #explain: (error: unknown) => unknown;

  constructor(db: queries.Database, explain: (error: unknown) => unknown) {
    this.#db = db;
    this.#explain = explain;
  }

  learning(router: string, after: number, limit: number) {
    return this.#read(queries.learning(this.#db, router, after, limit));
  }

  controls(router: string) {
    return this.#read(queries.controls(this.#db, router));
  }

  head(router: string) {
    return this.#read(queries.head(this.#db, router));
  }

  positionAt(router: string, time: number) {
    return this.#read(queries.positionAt(this.#db, router, time));
  }

  votesOf(router: string, voter: string) {
    return this.#read(queries.votesOf(this.#db, router, voter));
  }

  routers() {
    return this.#read(queries.routers(this.#db));
  }

  routed(router: string, after: number, limit: number) {
    return this.#read(queries.routed(this.#db, router, after, limit));
  }

  decisions(page: PageQuery) {
    return this.#read(queries.decisions(this.#db, page));
  }

  decision(id: string) {
    return this.#read(queries.decision(this.#db, id));
  }

  prompt(decision: string) {
    return this.#read(queries.prompt(this.#db, decision));
  }

  tallies(query: TallyQuery) {
    return this.#read(queries.tallies(this.#db, query));
  }

  spent(owner: string, month: string) {
    return this.#read(queries.spent(this.#db, owner, month));
  }

  snapshot(router: string, atMost?: number) {
    return this.#read(queries.snapshot(this.#db, router, atMost));
  }

  snapshotPositions(router: string) {
    return this.#read(queries.snapshotPositions(this.#db, router));
  }

  horizon(router: string) {
    return this.#read(queries.horizon(this.#db, router));
  }

  keys() {
    return this.#read(queries.keys(this.#db));
  }

  async #read<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw this.#explain(error);
    }
  }
}
