import { randomBytes } from "node:crypto";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import {
  type AuditRecord,
  NODE_LIFETIME_MS,
  type StoredConfiguration,
  type StoredNode,
} from "./administration.ts";
import { type BudgetGrant, type BudgetRequest, budgetGrant } from "./budget.ts";
import {
  type ChangedKey,
  isNameTaken,
  type KeyChanges,
  type StoredKey,
  withChanges,
} from "./key.ts";
import { LogWrites } from "./log-writes.ts";
import { joined, literal, rowsOf, type Statement, sql, type Work } from "./sql.ts";
import type { ClientId, StoredResponse, StoredSnapshot } from "./store.ts";
import { LeaseLost } from "./store-error.ts";
import { snapshotsToDelete } from "./thin-snapshots.ts";
import { halfBytesOf } from "./vector.ts";

/** Writes everything except votes, controls and decisions, for both databases. */
export abstract class Writes extends LogWrites {
  /** Runs one statement, which is a transaction of its own. */
  protected abstract run<T>(statement: Statement): Promise<readonly T[]>;
  /** SQL for the time in milliseconds since 1970. Nodes that share a database use its clock, because their own clocks differ. */
  protected abstract now(): Statement;
  /** Makes other nodes wait that lease budget of the same key. */
  protected abstract lockBudget(owner: string): Iterable<Statement>;

  #migrated: Promise<void> = Promise.resolve();
  protected isClosed = false;

  migrated(): Promise<void> {
    return this.#migrated;
  }

  /** Moves the decisions of version 0.1 step by step, until `step` returns false. Other calls run in between. */
  protected moveInBackground(step: () => boolean | Promise<boolean>): void {
    this.#migrated = this.#move(step);
  }

  async #move(step: () => boolean | Promise<boolean>): Promise<void> {
    while (this.days.isMoving) {
      await setImmediate();
      if (this.isClosed) return;
      try {
        this.days.isMoving = await step();
      } catch {
        // The disk may be full. The decisions stay where they are until a later attempt.
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /**
   * Takes the lease if it is free or has expired, or if `steal` is set. The new token makes saves of the previous
   * holder fail. A lease that ends much later than a new one counts as expired: the clock has been set back since.
   */
  async acquireLease(router: string, holder: string, milliseconds: number, steal = false) {
    const isFree = steal
      ? literal("true")
      : sql`old.until NOT BETWEEN ${this.now()} AND ${this.now()} + ${2 * milliseconds}`;
    const [lease] = await this.run<{ token: number }>(sql`
      INSERT INTO leases AS old (router, holder, token, until)
      VALUES (${router}, ${holder}, 1, ${this.now()} + ${milliseconds})
      ON CONFLICT (router) DO UPDATE
      SET holder = excluded.holder, token = old.token + 1, until = excluded.until
      WHERE ${isFree}
      RETURNING token`);
    return lease?.token;
  }

  /** Renews a lease, even an expired one as long as nobody else has taken it. */
  async renewLease(router: string, token: number, milliseconds: number): Promise<boolean> {
    const renewed = await this.run(sql`
      UPDATE leases SET until = ${this.now()} + ${milliseconds}
      WHERE router = ${router} AND token = ${token} RETURNING token`);
    return renewed.length === 1;
  }

  async releaseLease(router: string, token: number): Promise<void> {
    await this.renewLease(router, token, -1);
  }

  async leaseBudget(request: BudgetRequest): Promise<BudgetGrant> {
    const logged = await this.spent(request.owner, request.month);
    return this.transact(this.#leaseBudget(request, logged));
  }

  /** Updates the node's account and grants what the budget allows. `logged` is the cost of all answers in the log. */
  *#leaseBudget(request: BudgetRequest, logged: number): Work<BudgetGrant> {
    const { owner, month, node, budget, spent, held, want, milliseconds } = request;
    yield* this.lockBudget(owner);
    const save = (amount: number) => sql`
      INSERT INTO budget_leases AS old (owner, month, node, held, spent, until)
      VALUES (${owner}, ${month}, ${node}, ${amount}, ${spent}, ${this.now()} + ${milliseconds})
      ON CONFLICT (owner, month, node) DO UPDATE
      SET held = excluded.held, until = excluded.until,
          spent = CASE WHEN old.spent > excluded.spent THEN old.spent ELSE excluded.spent END`;
    yield save(held);
    const [sums] = yield* rowsOf<{ held: number; spent: number }>(sql`
      SELECT coalesce(sum(held) FILTER (WHERE until >= ${this.now()}), 0) AS held,
             coalesce(sum(spent), 0) AS spent
      FROM budget_leases WHERE owner = ${owner} AND month = ${month}`);
    const grant = budgetGrant(budget, want, { ...sums!, logged });
    if (grant.granted > 0) yield save(held + grant.granted);
    return grant;
  }

  saveSnapshot(snapshot: StoredSnapshot, token: number): Promise<void> {
    return this.transact(this.#saveSnapshot(snapshot, token));
  }

  *#saveSnapshot(snapshot: StoredSnapshot, token: number): Work<void> {
    const { router, position, at, hash, state } = snapshot;
    // The row lock prevents another node from taking the lease before the commit.
    const [lease] = yield* rowsOf<{ token: number }>(sql`
      SELECT token FROM leases WHERE router = ${router} ${this.forUpdate}`);
    if (lease?.token !== token) throw new LeaseLost(router);
    const forgotten = yield sql`
      SELECT 1 FROM log WHERE kind <> 'voted' AND kind = 'voter_forgotten' AND router = ${router}
        AND position > ${position}`;
    // The posterior was learned from votes that have been erased since.
    if (forgotten.length > 0) return;
    yield sql`
      INSERT INTO snapshots (router, position, at, hash, state, checksum)
      VALUES (${router}, ${position}, ${at}, ${hash}, ${state}, ${crc32(state)})
      ON CONFLICT (router, position) DO UPDATE
      SET at = excluded.at, hash = excluded.hash, state = excluded.state,
          checksum = excluded.checksum`;
    const all = yield* rowsOf<{ position: number; at: number; horizon: number | null }>(sql`
      SELECT s.position, s.at, h.position AS horizon
      FROM snapshots s LEFT JOIN horizons h ON h.router = s.router WHERE s.router = ${router}`);
    const old = snapshotsToDelete(all, at, all[0]!.horizon ?? 0);
    if (old.length > 0) {
      yield sql`
        DELETE FROM snapshots WHERE router = ${router} AND position IN (${joined(old, ", ")})`;
    }
    yield* this.announce({ router, what: "snapshot", position });
  }

  async saveEmbedding(decision: string, x: Float64Array, until: number): Promise<void> {
    const insert = sql`
      INSERT INTO embeddings (decision, until, x) VALUES (${decision}, ${until}, ${halfBytesOf(x)})
      ON CONFLICT DO NOTHING`;
    await this.transact(this.#replaceExpired("embeddings", [insert]));
  }

  async saveResponses(responses: readonly StoredResponse[]): Promise<void> {
    // All nodes insert in the same order, so that two transactions cannot wait for each other.
    const sorted = responses.toSorted((a, b) => compare(a.id, b.id));
    const inserts = sorted.map(
      ({ id, owner, until, body }) => sql`
        INSERT INTO responses (id, owner, until, body) VALUES (${id}, ${owner}, ${until}, ${body})
        ON CONFLICT (id) DO UPDATE SET until = excluded.until, body = excluded.body
        WHERE responses.owner = excluded.owner`,
    );
    await this.transact(this.#replaceExpired("responses", inserts));
  }

  async deleteResponse(id: string): Promise<void> {
    await this.run(sql`DELETE FROM responses WHERE id = ${id}`);
  }

  async claimIds(claims: readonly ClientId[]): Promise<boolean[]> {
    return this.transact(this.#claimIds(claims));
  }

  *#claimIds(claims: readonly ClientId[]): Work<boolean[]> {
    const sorted = claims.toSorted((a, b) => compare(a.owner, b.owner) || compare(a.id, b.id));
    const rows = sorted.map(
      ({ owner, id, decision, until }) => sql`(${owner}, ${id}, ${decision}, ${until})`,
    );
    const insert = sql`
      INSERT INTO client_ids (owner, id, decision, until) VALUES ${joined(rows, ", ")}
      ON CONFLICT DO NOTHING`;
    yield* this.#replaceExpired("client_ids", claims.length > 0 ? [insert] : []);
    if (claims.length === 0) return [];
    const names = claims.map(({ owner, id }) => sql`(${owner}, ${id})`);
    const found = yield* rowsOf<Omit<ClientId, "until">>(sql`
      SELECT owner, id, decision FROM client_ids
      WHERE (owner, id) IN (VALUES ${joined(names, ", ")})`);
    const named = new Map(found.map(({ owner, id, decision }) => [`${owner}\n${id}`, decision]));
    return claims.map(({ owner, id, decision }) => named.get(`${owner}\n${id}`) === decision);
  }

  async releaseId({ owner, id, decision }: Omit<ClientId, "until">): Promise<void> {
    await this.run(sql`
      DELETE FROM client_ids WHERE owner = ${owner} AND id = ${id} AND decision = ${decision}`);
  }

  /** Deletes the expired rows of a table and inserts others. */
  *#replaceExpired(table: ExpiringTable, inserts: readonly Statement[]): Work<void> {
    yield sql`DELETE FROM ${literal(table)} WHERE until < ${this.now()}`;
    yield* inserts;
  }

  addKey(key: StoredKey): Promise<boolean> {
    return this.transact(this.#addKey(key), "keys");
  }

  *#addKey(key: StoredKey): Work<boolean> {
    const rows = yield* rowsOf<{ body: string }>(sql`SELECT body FROM keys`);
    if (isNameTaken(key, rows.map(keyOf))) return false;
    yield sql`
      INSERT INTO keys (id, body) VALUES (${key.id}, ${JSON.stringify(key)}) ON CONFLICT DO NOTHING`;
    return true;
  }

  changeKey(id: string, changes: KeyChanges): Promise<ChangedKey | undefined> {
    return this.transact(this.#changeKey(id, changes), "keys");
  }

  *#changeKey(id: string, changes: KeyChanges): Work<ChangedKey | undefined> {
    const rows = yield* rowsOf<{ body: string }>(sql`SELECT body FROM keys WHERE id = ${id}`);
    const [before] = rows.map(keyOf);
    if (!before || before.revokedAt !== undefined) return undefined;
    const after = withChanges(before, changes);
    yield sql`UPDATE keys SET body = ${JSON.stringify(after)} WHERE id = ${id}`;
    return { before, after };
  }

  async secret(name: string): Promise<Uint8Array> {
    await this.run(sql`
      INSERT INTO secrets (name, value) VALUES (${name}, ${randomBytes(32)}) ON CONFLICT DO NOTHING`);
    const find = sql`SELECT value FROM secrets WHERE name = ${name}`;
    const [found] = await this.run<{ value: Uint8Array }>(find);
    return found!.value;
  }

  async deleteSecret(name: string): Promise<void> {
    await this.run(sql`DELETE FROM secrets WHERE name = ${name}`);
  }

  saveConfiguration(configuration: StoredConfiguration, record: AuditRecord): Promise<boolean> {
    return this.transact(this.#saveConfiguration(configuration, record));
  }

  *#saveConfiguration(
    { revision, at, document, sealed }: StoredConfiguration,
    record: AuditRecord,
  ): Work<boolean> {
    // Another node that saves the same revision waits here, and then gets no row.
    const saved = yield sql`
      INSERT INTO configurations (revision, at, document, sealed)
      SELECT ${revision}, ${at}, ${document}, ${sealed}
      WHERE (SELECT coalesce(max(revision), 0) FROM configurations) = ${revision - 1}
      ON CONFLICT DO NOTHING RETURNING revision`;
    if (saved.length === 0) return false;
    yield* saveAudit(record);
    yield* this.announce({ router: "", what: "configuration", position: revision });
    return true;
  }

  async saveAudit(record: AuditRecord): Promise<void> {
    await this.transact(saveAudit(record));
  }

  async endSession(id: string, until: number): Promise<void> {
    const insert = sql`
      INSERT INTO ended_sessions (id, until) VALUES (${id}, ${until}) ON CONFLICT DO NOTHING`;
    await this.transact(this.#replaceExpired("ended_sessions", [insert]));
  }

  async saveNode(node: Omit<StoredNode, "seen">): Promise<void> {
    await this.transact(this.#saveNode(node));
  }

  *#saveNode(node: Omit<StoredNode, "seen">): Work<void> {
    yield sql`DELETE FROM nodes WHERE seen < ${this.now()} - ${NODE_LIFETIME_MS}`;
    yield sql`
      INSERT INTO nodes (id, seen, body) VALUES (${node.id}, ${this.now()}, ${JSON.stringify(node)})
      ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, body = excluded.body`;
  }

  async deleteNode(id: string): Promise<void> {
    await this.run(sql`DELETE FROM nodes WHERE id = ${id}`);
  }
}

const RETRY_MS = 1000;

/** Tables whose rows are kept until the time in their column `until`. */
type ExpiringTable = "embeddings" | "responses" | "client_ids" | "ended_sessions";

function* saveAudit(record: AuditRecord): Work<void> {
  yield sql`INSERT INTO audit (id, body) VALUES (${record.id}, ${JSON.stringify(record)})`;
}

function keyOf({ body }: { readonly body: string }): StoredKey {
  return JSON.parse(body) as StoredKey;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
