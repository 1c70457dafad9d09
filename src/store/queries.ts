import { crc32 } from "node:zlib";
import type {
  AuditQuery,
  AuditRecord,
  HeldLease,
  StoredConfiguration,
  StoredNode,
} from "./administration.ts";
import type { Control, LogEvent, Logged, Voted } from "./events.ts";
import type { StoredKey } from "./key.ts";
import { eventOf, type LoggedRow } from "./row.ts";
import { joined, literal, type Statement, sql } from "./sql.ts";
import {
  MOST_COUNTED_VOTES,
  type StoredResponse,
  type StoredSnapshot,
  type StoredVoter,
  type VotersQuery,
} from "./store.ts";
import { vectorOfHalf } from "./vector.ts";

/** Runs a statement and returns its rows. */
export type Select = <T>(statement: Statement) => Promise<T[]>;

// These conditions repeat those of partial indexes word for word: otherwise SQLite does not use the
// indexes.
const CONTROLS = literal("kind <> 'voted'");

const VOTERS = literal(
  "voter IS NOT NULL AND (ballot IS NULL OR substr(ballot, 1, 8) <> 'comment:')",
);

/**
 * Events that are read per voter beyond the limit of votes, because the index also has the weighings of the
 * voter.
 */
const SPARE_EVENTS = 100;

interface VoterRow {
  readonly voter: string;
  readonly events: number;
  readonly weighings: number;
  readonly first_at: number | null;
  readonly last_at: number | null;
}

type PositionRow = Pick<LoggedRow, "position">;

/** Reads the log and everything else except decisions. The same for both databases; each method runs one statement. */
export class LogQueries {
  readonly select: Select;

  constructor(select: Select) {
    this.select = select;
  }

  async logEvents(router: string, after: number, limit: number): Promise<Logged<LogEvent>[]> {
    const rows = await this.select<LoggedRow>(sql`
      SELECT * FROM log WHERE router = ${router} AND position > ${after}
      ORDER BY position LIMIT ${limit}`);
    return rows.map(eventOf<LogEvent>);
  }

  async controls(router: string, after = 0): Promise<Logged<Control>[]> {
    const rows = await this.select<LoggedRow>(sql`
      SELECT * FROM log WHERE ${CONTROLS} AND router = ${router} AND position > ${after}
      ORDER BY position`);
    return rows.map(eventOf<Control>);
  }

  async head(router: string): Promise<number> {
    const [row] = await this.select<PositionRow>(sql`
      SELECT position FROM log WHERE router = ${router} ORDER BY position DESC LIMIT 1`);
    return row?.position ?? 0;
  }

  async positionAt(router: string, time: number): Promise<number> {
    // Read from the end: after a clock was set back, an earlier event may have a later time.
    const [row] = await this.select<PositionRow>(sql`
      SELECT position FROM log WHERE router = ${router} AND at <= ${time}
      ORDER BY position DESC LIMIT 1`);
    return row?.position ?? 0;
  }

  async voters({ router, from = "", limit }: VotersQuery): Promise<StoredVoter[]> {
    const ofRouter = sql`router = ${router} AND ${VOTERS}`;
    const votes = sql`SELECT at FROM log WHERE ${ofRouter} AND kind = 'voted' AND voter = names.name`;
    // Each step reads the next name from the index, and nothing of the votes between two names.
    const rows = await this.select<VoterRow>(sql`
      WITH RECURSIVE names (name, number) AS (
        SELECT * FROM (
          SELECT voter, 1 FROM log WHERE ${ofRouter} AND voter >= ${from} ORDER BY voter LIMIT 1
        ) AS beginning
        UNION ALL
        SELECT (SELECT voter FROM log WHERE ${ofRouter} AND voter > names.name ORDER BY voter LIMIT 1),
               number + 1
        FROM names WHERE name IS NOT NULL AND number < ${limit}
      )
      SELECT name AS voter,
        (SELECT count(*) FROM (
          SELECT 1 FROM log WHERE ${ofRouter} AND voter = names.name LIMIT ${MOST_COUNTED_VOTES + SPARE_EVENTS}
        ) AS counted) AS events,
        (SELECT count(*) FROM log
          WHERE ${CONTROLS} AND kind = 'voter_weighed' AND router = ${router} AND voter = names.name
        ) AS weighings,
        (${votes} ORDER BY position LIMIT 1) AS first_at,
        (${votes} ORDER BY position DESC LIMIT 1) AS last_at
      FROM names WHERE name IS NOT NULL ORDER BY number`);
    return rows.map(({ voter, events, weighings, first_at, last_at }) => ({
      voter,
      votes: Math.min(MOST_COUNTED_VOTES, Math.max(0, events - weighings)),
      ...(first_at !== null && { first: first_at }),
      ...(last_at !== null && { last: last_at }),
    }));
  }

  async routers(): Promise<string[]> {
    const rows = await this.select<{ router: string }>(sql`
      SELECT DISTINCT router FROM log WHERE ${CONTROLS} ORDER BY router`);
    return rows.map(({ router }) => router);
  }

  /** The votes on some decisions, without embeddings. */
  protected async votesOn(ids: readonly string[]): Promise<Logged<Omit<Voted, "x">>[]> {
    const rows = await this.select<Omit<LoggedRow, "x" | "ballot">>(sql`
      SELECT position, router, kind, at, decision, voter, body FROM log
      WHERE kind = 'voted' AND decision IN (${joined(ids, ", ")}) ORDER BY position`);
    return rows.map(eventOf<Omit<Voted, "x">>);
  }

  async embedding(decision: string): Promise<Float64Array | undefined> {
    const [row] = await this.select<{ x: Uint8Array }>(sql`
      SELECT x FROM embeddings WHERE decision = ${decision}`);
    return row && vectorOfHalf(row.x);
  }

  async response(id: string): Promise<StoredResponse | undefined> {
    const [row] = await this.select<StoredResponse>(sql`
      SELECT id, owner, until, body FROM responses WHERE id = ${id}`);
    return row;
  }

  async responses(ids: readonly string[], maxBytes: number): Promise<StoredResponse[]> {
    if (ids.length === 0) return [];
    return this.select<StoredResponse>(sql`
      SELECT id, owner, until, body FROM responses
      WHERE id IN (${joined(ids, ", ")}) AND length(body) <= ${maxBytes}`);
  }

  async decisionNamed(owner: string, id: string): Promise<string | undefined> {
    const [row] = await this.select<{ decision: string }>(sql`
      SELECT decision FROM client_ids WHERE owner = ${owner} AND id = ${id}`);
    return row?.decision;
  }

  async snapshot(
    router: string,
    atMost: number = Number.MAX_SAFE_INTEGER,
  ): Promise<StoredSnapshot | undefined> {
    for (let last = atMost; ; ) {
      const [row] = await this.select<StoredSnapshot & { checksum: number | null }>(sql`
        SELECT * FROM snapshots WHERE router = ${router} AND position <= ${last}
        ORDER BY position DESC LIMIT 1`);
      if (!row) return undefined;
      const { checksum, ...snapshot } = row;
      // Snapshots of older versions have no checksum.
      if (checksum === null || checksum === crc32(snapshot.state)) return snapshot;
      last = row.position - 1;
    }
  }

  async snapshotPositions(router: string): Promise<number[]> {
    const rows = await this.select<PositionRow>(sql`
      SELECT position FROM snapshots WHERE router = ${router} ORDER BY position`);
    return rows.map(({ position }) => position);
  }

  async horizon(router: string): Promise<number> {
    const [row] = await this.select<PositionRow>(sql`
      SELECT position FROM horizons WHERE router = ${router}`);
    return row?.position ?? 0;
  }

  async configuration(
    revision: number = Number.MAX_SAFE_INTEGER,
  ): Promise<StoredConfiguration | undefined> {
    const [row] = await this.select<StoredConfiguration>(sql`
      SELECT * FROM configurations WHERE revision <= ${revision} ORDER BY revision DESC LIMIT 1`);
    return row;
  }

  async revision(): Promise<number> {
    const [row] = await this.select<{ revision: number | null }>(sql`
      SELECT max(revision) AS revision FROM configurations`);
    return row?.revision ?? 0;
  }

  async audit({ before, limit }: AuditQuery): Promise<AuditRecord[]> {
    const earlier = before === undefined ? literal("") : sql`WHERE id < ${before}`;
    const rows = await this.select<{ body: string }>(sql`
      SELECT body FROM audit ${earlier} ORDER BY id DESC LIMIT ${limit}`);
    return rows.map(({ body }) => JSON.parse(body) as AuditRecord);
  }

  async endedSessions(): Promise<string[]> {
    const rows = await this.select<{ id: string }>(sql`SELECT id FROM ended_sessions`);
    return rows.map(({ id }) => id);
  }

  async nodes(): Promise<StoredNode[]> {
    const rows = await this.select<{ seen: number; body: string }>(sql`
      SELECT seen, body FROM nodes ORDER BY id`);
    return rows.map(({ seen, body }) => ({ ...JSON.parse(body), seen }) as StoredNode);
  }

  async leases(): Promise<HeldLease[]> {
    return this.select<HeldLease>(sql`SELECT router, holder, until FROM leases ORDER BY router`);
  }

  async keys(): Promise<StoredKey[]> {
    const rows = await this.select<{ body: string }>(sql`SELECT body FROM keys ORDER BY id`);
    return rows.map(({ body }) => JSON.parse(body) as StoredKey);
  }
}
