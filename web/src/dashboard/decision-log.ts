import type { Decision, DecisionPage } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { categoryIn, inWords, votesInWords } from "../decision/in-words.ts";
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

/** The decisions of a router, newest first, loaded page by page. */
export class DecisionLog {
  readonly rows = new Observable<readonly DecisionRow[]>([]);
  readonly isComplete = new Observable(false);
  readonly #router: string;
  #next: string | undefined;
  #loading: Promise<void> | undefined;

  constructor(router: string) {
    this.#router = router;
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
    const { data, next } = await this.#page(NEWEST, undefined);
    const newest = data.map(rowOf);
    const rows = merged(newest, this.rows.value);
    if (rows === newest) {
      // The new page does not overlap the known rows, so loading continues after it.
      this.#next = next;
      this.isComplete.set(next === undefined);
    }
    this.rows.set(rows);
  }

  async #load(): Promise<void> {
    if (this.isComplete.value) return;
    const { data, next } = await this.#page(PAGE, this.#next);
    const known = new Set(this.rows.value.map(({ id }) => id));
    const fresh = data.map(rowOf).filter(({ id }) => !known.has(id));
    this.#next = next;
    if (next === undefined) this.isComplete.set(true);
    this.rows.set([...this.rows.value, ...fresh]);
  }

  #page(limit: number, before: string | undefined): Promise<DecisionPage> {
    return joust.decisions({ router: this.#router, limit, before });
  }
}

const PAGE = 200;
const NEWEST = 50;

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
  const costs = decision.answers.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  return {
    id: decision.id,
    at: Date.parse(decision.at),
    text: inWords(decision),
    category: categoryIn(decision),
    votes: votesInWords(decision),
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
  };
}
