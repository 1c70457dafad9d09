import { isDeepStrictEqual } from "node:util";
import { findPolicy } from "../../src/learner/events.fixture.ts";
import { type Fold, hashOf, readState } from "../../src/learner/fold.ts";
import type { ServedRouter } from "../../src/learner/follower.ts";
import { History } from "../../src/learner/history.ts";
import type { LogEvent, Logged, Voted } from "../../src/store/events.ts";
import type { Store, StoredSnapshot } from "../../src/store/store.ts";
import type { SimulatedProcess } from "./node.ts";
import { type Entry, Reference } from "./reference.ts";
import type { Scheduler } from "./scheduler.ts";

/** A vote that a client was told is in the log. */
interface Acknowledged {
  readonly vote: Voted;
  /** Time at which the client sent the vote for the first time. */
  readonly sentAt: number;
}

/** A posterior that a node served or saved. */
interface Observed {
  readonly version: number;
  readonly hash: string;
  /** Position of the configuration that it is served with; undefined for a snapshot. */
  readonly configuration: number | undefined;
  readonly where: string;
}

/**
 * Observes a simulation and collects what must never happen. It reads the log from the database
 * itself, without network and without planted bugs, and keeps what is erased later.
 */
export class Checks {
  readonly failures: string[] = [];
  readonly entries: Entry[] = [];
  readonly #scheduler: Scheduler;
  readonly #database: Store;
  readonly #sent = new Map<string, Voted[]>();
  readonly #acknowledged: Acknowledged[] = [];
  readonly #erasures: { readonly voter: string; readonly time: number }[] = [];
  readonly #observed: Observed[] = [];
  readonly #served = new Map<SimulatedProcess, ServedRouter>();
  /** Position of the last erasure of votes. */
  #erasedAt = 0;
  /** Newest token of the lease. */
  #token = 0;

  constructor(scheduler: Scheduler, database: Store) {
    this.#scheduler = scheduler;
    this.#database = database;
  }

  /** Position of the newest event. */
  get head(): number {
    return this.entries.at(-1)?.event.position ?? 0;
  }

  get acknowledgedVotes(): number {
    return this.#acknowledged.length;
  }

  fail(text: string): void {
    this.#scheduler.note("", `FAILED: ${text}`);
    this.failures.push(text);
  }

  /** A client sends a vote, perhaps again. */
  sent(vote: Voted): void {
    const ballot = ballotOf(vote);
    this.#sent.set(ballot, [...(this.#sent.get(ballot) ?? []), vote]);
  }

  acknowledged(vote: Voted, sentAt: number): void {
    this.#acknowledged.push({ vote, sentAt });
  }

  /** Whether votes of a voter were erased at or after a time. */
  isErased(voter: string, since: number): boolean {
    return this.#erasures.some((one) => one.voter === voter && one.time >= since);
  }

  /** The store has executed a call. */
  async executed(name: string, args: readonly unknown[], result: unknown): Promise<void> {
    if (name === "append") await this.refresh();
    else if (name === "forget") await this.#forgotten(args[1] as string);
    else if (name === "logEvents") this.#read(args[1] as number, result as Logged<LogEvent>[]);
    else if (name === "acquireLease" && result !== undefined) this.#granted(result as number);
    else if (name === "saveSnapshot") this.#saved(args[0] as StoredSnapshot, args[1] as number);
    else if (name === "renewLease" && result === true && args[1] !== this.#token) {
      this.fail(`a lease was renewed with the old token ${args[1]} (newest: ${this.#token})`);
    }
  }

  /** Copies new events of the log. */
  async refresh(): Promise<void> {
    const events = await this.#database.logEvents("auto", this.head, 1e6);
    for (const event of events) this.entries.push({ event, erasedBy: Infinity });
  }

  async #forgotten(voter: string): Promise<void> {
    const before = this.head;
    await this.refresh();
    const control = this.entries.findLast(
      ({ event }) => event.position > before && event.kind === "voter_forgotten",
    );
    if (!control) return;
    this.#erasures.push({ voter, time: this.#scheduler.time });
    const { position } = control.event;
    this.#erasedAt = position;
    for (const entry of this.entries) {
      const { event } = entry;
      const hasName = event.kind === "voted" || event.kind === "voter_weighed";
      const isTheirs = hasName && event.voter === voter && event.position < position;
      if (isTheirs) entry.erasedBy = Math.min(entry.erasedBy, position);
    }
  }

  #read(after: number, events: readonly Logged<LogEvent>[]): void {
    const last = events.at(-1)?.position ?? after;
    const known = this.#present().filter(({ position }) => position > after && position <= last);
    if (known.length === events.length) return;
    const counts = `${events.length} instead of ${known.length} events`;
    this.fail(`a reader got ${counts} after position ${after} up to ${last}`);
  }

  #granted(token: number): void {
    if (token <= this.#token) this.fail(`token ${token} was granted after ${this.#token}`);
    this.#token = token;
  }

  #saved({ position, hash }: StoredSnapshot, token: number): void {
    if (token !== this.#token) {
      this.fail(`a snapshot was saved with the old token ${token} (newest: ${this.#token})`);
    }
    this.#add({ version: position, hash, configuration: undefined, where: "snapshot" });
  }

  /** Compares what a process serves with what it served before. */
  observe(process: SimulatedProcess): void {
    const { serving } = process;
    const before = this.#served.get(process);
    if (!serving || serving === before) return;
    this.#served.set(process, serving);
    const { version, configuration } = serving;
    if (before && version < before.version) {
      this.fail(`${process.name} went back from version ${before.version} to ${version}`);
    }
    const isSame = configuration === before?.configuration && version === before.version;
    if (!isSame) this.#observeServed(process.name, serving);
  }

  #observeServed(where: string, { version, configuration, router }: ServedRouter): void {
    const { policy, voters } = router.snapshot();
    const hash = hashOf({ policy, voters });
    this.#scheduler.note(where, `serves ${version} ${hash.slice(0, 12)}`);
    this.#add({ version, hash, configuration: configuration.position, where });
  }

  /**
   * Adds a posterior, unless votes that it may contain have been erased: until a learner reaches the
   * position of the erasure, the posterior of an earlier version may be with or without these votes.
   */
  #add(observed: Observed): void {
    if (observed.version >= this.#erasedAt) this.#observed.push(observed);
  }

  /** Checks what can only be checked after all nodes have reached the newest position. */
  async finish(processes: readonly SimulatedProcess[]): Promise<void> {
    for (const { name, serving } of processes) this.#observeServed(name, serving!);
    const log = await this.#database.logEvents("auto", 0, 1e6);
    this.#checkLog(log);
    this.#checkAcknowledged(log);
    for (const position of await this.#database.snapshotPositions("auto")) {
      await this.#checkSnapshot(position);
    }
    this.#checkPosteriors();
    for (const snapshots of [true, false]) await this.#checkHistory(snapshots);
  }

  #present(): Logged<LogEvent>[] {
    return this.entries.filter(({ erasedBy }) => erasedBy === Infinity).map(({ event }) => event);
  }

  #checkLog(log: readonly Logged<LogEvent>[]): void {
    const positions = (events: readonly Logged<LogEvent>[]) =>
      events.map(({ position }) => position);
    const [found, known] = [positions(log), positions(this.#present())];
    if (!isDeepStrictEqual(found, known)) {
      const hidden = found.filter((position) => !known.includes(position));
      this.fail(
        hidden.length > 0
          ? `events appeared at positions ${hidden}, which readers had passed`
          : `events disappeared: the log has ${found.length} of ${known.length}`,
      );
    }
    const ballots = new Set<string>();
    for (const event of log) {
      if (event.kind !== "voted") continue;
      const ballot = ballotOf(event);
      if (ballots.has(ballot)) this.fail(`ballot ${ballot} is in the log twice`);
      ballots.add(ballot);
      const { position: _, ...vote } = event;
      const isSent = (this.#sent.get(ballot) ?? []).some((one) => isDeepStrictEqual(one, vote));
      if (!isSent) this.fail(`the vote at position ${event.position} differs from what was sent`);
    }
  }

  #checkAcknowledged(log: readonly Logged<LogEvent>[]): void {
    const votes = new Map(
      log.flatMap((event) => (event.kind === "voted" ? [[ballotOf(event), event] as const] : [])),
    );
    for (const { vote, sentAt } of this.#acknowledged) {
      if (this.isErased(vote.voter, sentAt)) continue;
      const found = votes.get(ballotOf(vote));
      if (!found) this.fail(`the acknowledged vote ${ballotOf(vote)} is not in the log`);
      else if (!isDeepStrictEqual(found.verdict, vote.verdict)) {
        this.fail(`the acknowledged vote ${ballotOf(vote)} is in the log with another verdict`);
      }
    }
  }

  async #checkSnapshot(position: number): Promise<void> {
    if (position < this.#erasedAt) {
      this.fail(`snapshot ${position} is older than the erasure at ${this.#erasedAt}`);
    }
    const stored = await this.#database.snapshot("auto", position);
    if (stored?.position !== position) return this.fail(`snapshot ${position} cannot be read`);
    try {
      const state = readState(stored.state);
      const hash = hashOf(state.posterior);
      const version = state.position;
      this.#add({ version, hash, configuration: undefined, where: "stored snapshot" });
      if (hash !== stored.hash || version !== position) this.fail(`snapshot ${position} is torn`);
    } catch (error) {
      this.fail(`snapshot ${position} cannot be decoded: ${(error as Error).message}`);
    }
  }

  #checkPosteriors(): void {
    const reference = new Reference(this.entries);
    const sorted = this.#observed.toSorted((a, b) => a.version - b.version);
    let version = -1;
    let expected: { readonly fold: Fold; readonly hash: string } | undefined;
    for (const one of sorted) {
      if (one.version !== version || !expected) {
        version = one.version;
        const fold = reference.at(version);
        expected = { fold, hash: fold.hash() };
      }
      const { fold, hash } = expected;
      // A posterior from before a change of configuration is served with changed models.
      const isComparable =
        one.configuration === undefined || one.configuration === fold.configuration?.position;
      if (!isComparable || one.hash === hash) continue;
      const { where } = one;
      this.fail(`the posterior of ${where} at version ${version} differs from the log`);
    }
  }

  async #checkHistory(snapshots: boolean): Promise<void> {
    const history = new History(this.#database, "auto", { findPolicy, snapshots });
    await history.open();
    if (snapshots) while (await history.advance());
    else await history.replay();
    const expected = new Reference(this.entries).at(this.head);
    if (history.fold.hash() === expected.hash()) return;
    this.fail(`${snapshots ? "a restarted learner" : "replay"} differs from the log`);
  }
}

/** The ballot of a vote, as src/store/row.ts defines it for votes without metrics and comments. */
function ballotOf({ decision, voter, byToken }: Voted): string {
  return `${decision}/${byToken ? "" : voter}`;
}
