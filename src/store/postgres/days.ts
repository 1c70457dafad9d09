import type pg from "pg";
import { DAY_MS } from "../decision-id.ts";
import type { Days, DayTables } from "../decision-queries.ts";
import type { Select } from "../queries.ts";
import { hasNul, literal, type Statement } from "../sql.ts";
import { DAYS_LOCK, query, transaction } from "./connect.ts";

/** Decisions and answers in one partition per day. Dropping a day drops its tables. */
export class Partitions implements Days {
  readonly #pool: pg.Pool;
  /** Days whose partitions exist, as far as this node knows. */
  readonly #known = new Set<number>();
  isMoving = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Lists the days that have a partition, up to tomorrow. Later partitions were only created ahead. */
  async list(): Promise<number[]> {
    // The names are not converted in SQL: PostgreSQL may evaluate a condition on the number first,
    // for the names of all tables.
    const rows = await query<{ name: string; today: number }>(
      this.#pool,
      literal(`
        SELECT c.relname AS name,
               floor(extract(epoch FROM clock_timestamp()) / 86400)::integer AS today
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'decisions'::regclass`),
    );
    return rows
      .map(({ name, today }) => ({ day: Number(name.slice("decisions_".length)), today }))
      .filter(({ day, today }) => day <= today + 1)
      .map(({ day }) => day)
      .toSorted((a, b) => a - b);
  }

  of(day: number): DayTables {
    return {
      select: async <T>(statement: Parameters<Select>[0]) => {
        if (hasNul(statement)) return [];
        try {
          return (await query(this.#pool, statement)) as T[];
        } catch (error) {
          if (isMissingTable(error)) return [];
          throw error;
        }
      },
      decisions: tableOf("decisions", day),
      answers: tableOf("answers", day),
    };
  }

  /** All counts are in the main tables. */
  async withCounts(): Promise<number[]> {
    return [];
  }

  /**
   * Makes sure that the partitions of these days and of the days after them exist, so
   * that no request creates one at midnight.
   */
  async ensure(days: Iterable<number>): Promise<void> {
    for (const day of days) {
      const isReady = this.#known.has(day) && this.#known.has(day + 1);
      if (!isReady) await this.#create([day, day + 1, day + 2]);
    }
  }

  /** Forgets which days exist, after an insert found that one was dropped. */
  recheck(): void {
    this.#known.clear();
  }

  async #create(days: readonly number[]): Promise<void> {
    await transaction(this.#pool, DAYS_LOCK, async (client) => {
      for (const day of days) {
        // to_regclass would not see a table that another node created while this one waited for the lock.
        const { rows } = await client.query(
          `SELECT 1 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
           WHERE i.inhparent = 'decisions'::regclass AND c.relname = $1`,
          [`decisions_${day}`],
        );
        if (rows.length > 0) continue;
        // Attaching, unlike CREATE TABLE .. PARTITION OF, does not wait for running inserts.
        for (const table of ["decisions", "answers"]) {
          await client.query(
            `CREATE TABLE ${table}_${day} (LIKE ${table} INCLUDING ALL);
             ALTER TABLE ${table} ATTACH PARTITION ${table}_${day}
               FOR VALUES FROM (${day}) TO (${day + 1})`,
          );
        }
      }
    });
    for (const day of days) this.#known.add(day);
  }

  async drop(before: number): Promise<number> {
    let decisions = 0;
    for (const day of await this.list()) {
      if ((day + 1) * DAY_MS > before) continue;
      decisions += await transaction(this.#pool, DAYS_LOCK, async (client) => {
        const { rows } = await client.query<{ count: number }>(
          "SELECT coalesce(sum(decisions), 0)::bigint AS count FROM day_sizes WHERE day = $1",
          [day],
        );
        await client.query("DELETE FROM day_sizes WHERE day = $1", [day]);
        // Waits for running statements on the partitioned tables, and gives up after two seconds.
        // Another node may have dropped the day before this one got the lock.
        await client.query(
          `SET LOCAL lock_timeout = 2000; DROP TABLE IF EXISTS decisions_${day}, answers_${day}`,
        );
        return rows[0]!.count;
      });
      this.#known.delete(day);
    }
    return decisions;
  }
}

/**
 * The table of a day. The condition on the day changes no result: the primary keys begin with the day, and before version 18,
 * PostgreSQL reads all of such an index to find an id if the day is not given.
 */
function tableOf(name: "decisions" | "answers", day: number): Statement {
  return literal(`(SELECT * FROM ${name}_${day} WHERE day = ${day})`);
}

function isMissingTable(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "42P01";
}
