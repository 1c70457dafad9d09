import type { Configured, Control, LogEvent, Logged, Voted } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import { systemTimers, type Timers } from "../store/timers.ts";
import { type FindPolicy, Fold } from "./fold.ts";
import { VoteSchedule } from "./vote-schedule.ts";

export interface HistoryOptions {
  readonly findPolicy: FindPolicy;
  /** True to start from saved snapshots. Otherwise only the snapshot at the horizon is used. */
  readonly snapshots: boolean;
  /** Do not start from a snapshot after this position. */
  readonly from?: number | undefined;
  /** Replaces each logged configuration, to find out what another policy would have learned. */
  readonly adapt?: ((configuration: Logged<Configured>) => Logged<Configured>) | undefined;
  /** Called with each vote that counts, and whether the fold has learned from it. */
  readonly onVote?: ((vote: Logged<Voted>, isLearned: boolean) => void) | undefined;
  /** Called before each page of events is folded. An error that it throws ends the folding. */
  readonly beforePage?: (() => Promise<void>) | undefined;
  readonly timers?: Timers | undefined;
}

/** Reads the log of one router and folds it. */
export class History {
  readonly #store: Store;
  readonly #router: string;
  readonly #options: HistoryOptions;
  readonly #timers: Timers;
  #controls: Logged<Control>[] = [];
  #fold: Fold;
  #votesSeen = 0;
  /** The last page read from the store: events after position `from`. */
  #buffer: { readonly from: number; readonly events: readonly Logged<LogEvent>[] } = EMPTY;

  constructor(store: Store, router: string, options: HistoryOptions) {
    this.#store = store;
    this.#router = router;
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#fold = new Fold(options.findPolicy);
  }

  get fold(): Fold {
    return this.#fold;
  }

  /** Number of votes read from the log, whether they count or not. */
  get votesSeen(): number {
    return this.#votesSeen;
  }

  /** Starts from the newest usable snapshot. */
  async open(): Promise<void> {
    await this.#readControls();
    const head = await this.#store.head(this.#router);
    this.#fold = await this.#initialFold(new VoteSchedule(this.#controls, head));
  }

  /**
   * Folds the next page of events; if a time is given, only votes cast before it and controls up
   * to it. Returns false if there are no new events.
   */
  async advance(time = Infinity): Promise<boolean> {
    const events = await this.#readPage(this.#fold.position, Infinity);
    const later = events.findIndex(({ kind, at }) => (kind === "voted" ? at >= time : at > time));
    const page = later < 0 ? events : events.slice(0, later);
    const last = page.at(-1);
    if (!last) return false;
    if (page.some(({ kind }) => kind !== "voted")) await this.#readControls();
    const schedule = new VoteSchedule(this.#controls, last.position);
    await this.#resetOnError(async () => {
      if (schedule.continues(this.#fold)) {
        // Requests are served with the fold while a page is folded. Inside a page with a rollback,
        // intermediate versions would lack votes that counted at their positions, so such a page is
        // folded into a copy.
        if (page.some(({ kind }) => kind !== "voted")) this.#fold = this.#copy();
        return this.#foldPage(schedule, page);
      }
      // The buffer may hold votes that were erased.
      this.#buffer = EMPTY;
      this.#fold = await this.#initialFold(schedule);
      await this.#foldTo(schedule);
    });
    return true;
  }

  /** Folds the whole log again, up to a position if one is given. */
  async replay(until = Infinity): Promise<void> {
    await this.#readControls();
    const head = Math.min(until, await this.#store.head(this.#router));
    const schedule = new VoteSchedule(this.#controls, head);
    await this.#resetOnError(async () => {
      this.#fold = await this.#initialFold(schedule);
      await this.#foldTo(schedule);
    });
  }

  /** Runs `work`. If it fails, the fold is incomplete and is reset, so that the next call starts again. */
  async #resetOnError(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fold = new Fold(this.#options.findPolicy);
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

  /** The newest usable snapshot or, without one, the prior of the base configuration. */
  async #initialFold(schedule: VoteSchedule): Promise<Fold> {
    const { snapshots, from = Infinity } = this.#options;
    const horizon = await this.#store.horizon(this.#router);
    const positions = snapshots ? await this.#store.snapshotPositions(this.#router) : [horizon];
    for (const position of positions.toReversed()) {
      if (position > from && position !== horizon) continue;
      // The snapshot at the horizon is always used: the votes before it no longer exist.
      const isUsable = schedule.hasPrefix(position) || position === horizon;
      const fold = position > 0 && isUsable && (await this.#load(position));
      if (!fold || fold.base !== (schedule.base?.position ?? 0)) continue;
      // After an upgrade, the votes are folded again if they still exist.
      if (!fold.isOutdated || position === horizon) return fold;
    }
    const fold = new Fold(this.#options.findPolicy);
    if (schedule.base) fold.begin(schedule.base);
    return fold;
  }

  /** Loads a snapshot. Returns undefined if it is damaged or its policy is unknown: the log replaces it. */
  async #load(position: number): Promise<Fold | undefined> {
    const stored = await this.#store.snapshot(this.#router, position);
    if (stored?.position !== position) return undefined;
    try {
      const fold = Fold.fromBytes(stored.state, this.#options.findPolicy, (position) =>
        this.#configurationAt(position),
      );
      return fold.position === position && fold.hash() === stored.hash ? fold : undefined;
    } catch {
      // Without a checksum, damaged bytes may fail anywhere. Snapshots of version 0.1 have none.
      return undefined;
    }
  }

  #copy(): Fold {
    return Fold.fromBytes(this.#fold.toBytes(), this.#options.findPolicy, (position) =>
      this.#configurationAt(position),
    );
  }

  #configurationAt(at: number): Logged<Configured> | undefined {
    const found = this.#controls.find(({ position }) => position === at);
    return found?.kind === "configured" ? found : undefined;
  }

  async #foldTo(schedule: VoteSchedule): Promise<void> {
    for (;;) {
      const page = await this.#readPage(this.#fold.position, schedule.until);
      if (page.length === 0) return;
      await this.#foldPage(schedule, page);
    }
  }

  async #foldPage(schedule: VoteSchedule, page: readonly Logged<LogEvent>[]): Promise<void> {
    const fold = this.#fold;
    await this.#options.beforePage?.();
    let since = this.#timers.now();
    for (const event of page) {
      if (event.kind === "voted") {
        this.#votesSeen++;
        if (schedule.base && schedule.countsAt(event) === event.position) {
          this.#learn(schedule, event);
        }
      } else if (event.kind === "configured") {
        // The configuration may be adapted. Configurations up to the base are already part of the
        // fold.
        const adapted = this.#configurationAt(event.position);
        if (adapted && event.position > fold.base) fold.configure(adapted);
      } else if (event.kind === "thawed") await this.#learnFrozen(schedule, event.position);
      fold.position = event.position;
      // Other work can run in between, because the same thread serves requests.
      if (this.#timers.now() - since > SLICE_MS) {
        await this.#timers.yield();
        since = this.#timers.now();
      }
    }
  }

  /** Learns the votes that were logged during the freeze which a thaw ends. */
  async #learnFrozen(schedule: VoteSchedule, thaw: number): Promise<void> {
    let after = schedule.freezeEndedBy(thaw);
    while (schedule.base && after !== undefined) {
      const page = await this.#readPage(after, thaw - 1);
      for (const event of page) {
        if (event.kind === "voted" && schedule.countsAt(event) === thaw) {
          this.#learn(schedule, event);
        }
      }
      after = page.at(-1)?.position;
    }
  }

  #learn(schedule: VoteSchedule, vote: Logged<Voted>): void {
    const isLearned = this.#fold.learn(vote, schedule.weightOf(vote.voter));
    this.#options.onVote?.(vote, isLearned);
  }

  async #readPage(after: number, until: number): Promise<Logged<LogEvent>[]> {
    // A caller that advances in small steps finds the next events in the buffer.
    const { from, events } = this.#buffer;
    let rest = after >= from ? events.filter(({ position }) => position > after) : [];
    if (rest.length === 0) {
      rest = await this.#store.logEvents(this.#router, after, PAGE);
      this.#buffer = { from: after, events: rest };
    }
    return rest.filter(({ position }) => position <= until);
  }
}

const EMPTY = { from: 0, events: [] };
const PAGE = 500;
const SLICE_MS = 5;
