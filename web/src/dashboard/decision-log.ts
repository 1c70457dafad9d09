import type { Decision, DecisionPage } from "../../../src/client.ts";
import { categoryIn, costOf, inWords, votesInWords } from "../decision/in-words.ts";
import { Observable } from "../state/observable.ts";

/** The part of a decision that a row shows; there may be many thousands of rows. */
export interface DecisionRow {
  readonly id: string;
  readonly at: number;
  readonly text: string;
  readonly category: string | undefined;
  readonly votes: string;
  /** Cost in US dollars; undefined until it is known. */
  readonly cost: number | undefined;
}

type ReadPage = (query: { limit: number; before: string | undefined }) => Promise<DecisionPage>;

/** The decisions of a router, newest first, loaded page by page. */
export class DecisionLog {
  readonly rows = new Observable<readonly DecisionRow[]>([]);
  readonly isComplete = new Observable(false);
  readonly #read: ReadPage;
  /** Rows at which a page ended, by id, each with the query for the page after it. */
  #ends = new Map<string | undefined, string>();
  #loading: Promise<void> | undefined;
  /** New rows replace the oldest ones beyond this number, so that a page that stays open does not grow. */
  #most = MOST;

  constructor(read: ReadPage) {
    this.#read = read;
  }

  /** Loads the next page. */
  loadMore(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Loads the newest decisions again, to add new ones and update changed ones. */
  async refresh(): Promise<void> {
    const { data, next } = await this.#read({ limit: NEWEST, before: undefined });
    const newest = data.map(rowOf);
    const rows = merged(newest, this.rows.value);
    if (rows === newest) {
      // The new page does not overlap the known rows, so loading continues after it.
      this.#ends.clear();
      this.isComplete.set(next === undefined);
    }
    if (next !== undefined) this.#ends.set(newest.at(-1)?.id, next);
    this.rows.set(this.#limited(rows));
  }

  async #load(): Promise<void> {
    while (!this.isComplete.value) {
      const last = this.rows.value.at(-1)?.id;
      const { data, next } = await this.#read({ limit: PAGE, before: this.#ends.get(last) });
      // A refresh has changed the end of the list.
      if (this.rows.value.at(-1)?.id !== last) continue;
      const rows = [...this.rows.value, ...data.map(rowOf)];
      if (next === undefined) this.isComplete.set(true);
      else this.#ends.set(rows.at(-1)?.id, next);
      this.#most += data.length;
      this.rows.set(rows);
      return;
    }
  }

  /** As many rows as are kept, up to the end of a page, after which loading can continue. */
  #limited(rows: readonly DecisionRow[]): readonly DecisionRow[] {
    if (rows.length <= this.#most) return rows;
    const end = rows.findLastIndex(({ id }, i) => i < this.#most && this.#ends.has(id));
    const kept = rows.slice(0, end + 1);
    const ids = new Set<string | undefined>(kept.map(({ id }) => id));
    this.#ends = new Map([...this.#ends].filter(([id]) => ids.has(id)));
    this.isComplete.set(false);
    return kept;
  }
}

const PAGE = 200;
const NEWEST = 50;
/** Rows that are kept besides those that the person has loaded by scrolling. */
const MOST = 1000;

/** The known rows with the newest page put in; only the newest page if the two do not overlap. */
export function merged(
  newest: readonly DecisionRow[],
  known: readonly DecisionRow[],
): readonly DecisionRow[] {
  const fresh = new Map(newest.map((row) => [row.id, row]));
  if (!known.some(({ id }) => fresh.has(id))) return newest;
  return [...newest, ...known.filter(({ id }) => !fresh.has(id))];
}

function rowOf(decision: Decision): DecisionRow {
  return {
    id: decision.id,
    at: Date.parse(decision.at),
    text: inWords(decision),
    category: categoryIn(decision),
    votes: votesInWords(decision),
    cost: costOf(decision),
  };
}
