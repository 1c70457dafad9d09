import { setImmediate } from "node:timers/promises";
import type { Configured, Control, Learning, Logged, Voted } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import { Fold, type Kinds } from "./fold.ts";
import { Script } from "./script.ts";

export interface HistoryOptions {
  readonly kinds: Kinds;
  /** Snapshots to start from; without, only one that the log begins with. */
  readonly snapshots: boolean;
  /** Where what is asked for begins: a snapshot past it is no place to start from. */
  readonly from?: number | undefined;
  /** Reads a configuration otherwise than it was logged, to ask what would have been. */
  readonly adapt?: ((configuration: Logged<Configured>) => Logged<Configured>) | undefined;
  /** Called with each vote that counts, before it is learnt. */
  readonly onVote?: ((vote: Logged<Voted>) => void) | undefined;
  /** Called now and then while folding; what it throws ends it. */
  readonly meanwhile?: (() => Promise<void>) | undefined;
}

/** The log of one router, folded. */
export class History {
  readonly #store: Store;
  readonly #router: string;
  readonly #options: HistoryOptions;
  #controls: Logged<Control>[] = [];
  #fold: Fold;
  #votesSeen = 0;
  /** Events read from the store, those after `from`. */
  #ahead: { readonly from: number; readonly events: readonly Logged<Learning>[] } = NOTHING;

  constructor(store: Store, router: string, options: HistoryOptions) {
    this.#store = store;
    this.#router = router;
    this.#options = options;
    this.#fold = new Fold(options.kinds);
  }

  get fold(): Fold {
    return this.#fold;
  }

  /** Votes in what was read of the log, whether they count or not. */
  get votesSeen(): number {
    return this.#votesSeen;
  }

  /** Starts from the newest snapshot that may be started from. */
  async open(): Promise<void> {
    await this.#readControls();
    const head = await this.#store.head(this.#router);
    this.#fold = await this.#startFor(new Script(this.#controls, head));
  }

  /** Folds what has been logged since, up to a position if one is given; false where that was nothing. */
  async advance(until = Infinity): Promise<boolean> {
    const page = await this.#page(this.#fold.position, until);
    const last = page.at(-1);
    if (!last) return false;
    if (page.some(({ kind }) => kind !== "voted")) await this.#readControls();
    const script = new Script(this.#controls, last.position);
    await this.#whole(async () => {
      if (script.extends(this.#fold)) return this.#run(script, page);
      this.#fold = await this.#startFor(script);
      await this.#runTo(script);
    });
    return true;
  }

  /** The same from the first vote on, in one go. */
  async replay(until = Infinity): Promise<void> {
    await this.#readControls();
    const head = Math.min(until, await this.#store.head(this.#router));
    const script = new Script(this.#controls, head);
    await this.#whole(async () => {
      this.#fold = await this.#startFor(script);
      await this.#runTo(script);
    });
  }

  /** Broken off in the middle nobody knows what is in: the next time begins anew. */
  async #whole(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fold = new Fold(this.#options.kinds);
      throw error;
    }
  }

  async #readControls(): Promise<void> {
    const { adapt } = this.#options;
    const controls = await this.#store.controls(this.#router);
    this.#controls = controls.map((event) =>
      event.kind === "configured" && adapt ? adapt(event) : event,
    );
  }

  async #startFor(script: Script): Promise<Fold> {
    const { snapshots, from = Infinity } = this.#options;
    const horizon = await this.#store.horizon(this.#router);
    const positions = snapshots ? await this.#store.snapshotPositions(this.#router) : [horizon];
    for (const position of positions.toReversed()) {
      if (position > from && position !== horizon) continue;
      // At the horizon the votes before are gone: what else there is to start from is no better.
      const usable = script.holds(position) || position === horizon;
      const fold = position > 0 && usable && (await this.#load(position));
      if (fold && fold.base === (script.base?.position ?? 0)) return fold;
    }
    const fold = new Fold(this.#options.kinds);
    if (script.base) fold.begin(script.base);
    return fold;
  }

  /** Undefined where it is not what was written, or of a policy that is no longer known. */
  async #load(position: number): Promise<Fold | undefined> {
    const stored = await this.#store.snapshot(this.#router, position);
    if (stored?.position !== position) return undefined;
    try {
      const fold = Fold.fromBytes(stored.state, this.#options.kinds, (place) =>
        this.#configurationAt(place),
      );
      return fold.hash() === stored.hash ? fold : undefined;
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #configurationAt(place: number): Logged<Configured> | undefined {
    const found = this.#controls.find(({ position }) => position === place);
    return found?.kind === "configured" ? found : undefined;
  }

  async #runTo(script: Script): Promise<void> {
    for (;;) {
      const page = await this.#page(this.#fold.position, script.until);
      if (page.length === 0) return;
      await this.#run(script, page);
    }
  }

  async #run(script: Script, page: readonly Logged<Learning>[]): Promise<void> {
    const fold = this.#fold;
    await this.#options.meanwhile?.();
    let since = performance.now();
    for (const event of page) {
      if (event.kind === "voted") {
        this.#votesSeen++;
        if (script.base && script.place(event) === event.position) this.#learn(event);
      } else if (event.kind === "configured") {
        // As adapted; those before the base are part of it.
        const known = this.#configurationAt(event.position);
        if (known && event.position > fold.base) fold.configure(known);
      } else if (event.kind === "thawed") await this.#learnKept(script, event.position);
      fold.position = event.position;
      // Requests are served by the same thread.
      if (performance.now() - since > SLICE_MS) {
        await setImmediate();
        since = performance.now();
      }
    }
  }

  /** The votes that came while frozen. */
  async #learnKept(script: Script, thaw: number): Promise<void> {
    let after = script.frozenSince(thaw);
    while (script.base && after !== undefined) {
      const page = await this.#page(after, thaw - 1);
      for (const event of page) {
        if (event.kind === "voted" && script.place(event) === thaw) this.#learn(event);
      }
      after = page.at(-1)?.position;
    }
  }

  #learn(vote: Logged<Voted>): void {
    this.#options.onVote?.(vote);
    this.#fold.learn(vote);
  }

  async #page(after: number, until: number): Promise<Logged<Learning>[]> {
    // Who walks in small steps finds the next ones at hand.
    const { from, events } = this.#ahead;
    let rest = after >= from ? events.filter(({ position }) => position > after) : [];
    if (rest.length === 0) {
      rest = await this.#store.learning(this.#router, after, PAGE);
      this.#ahead = { from: after, events: rest };
    }
    return rest.filter(({ position }) => position <= until);
  }
}

const NOTHING = { from: 0, events: [] };
const PAGE = 500;
const SLICE_MS = 5;
