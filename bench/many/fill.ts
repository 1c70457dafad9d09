import Sqlite from "better-sqlite3";
import pg from "pg";
import { newDecisionId } from "../../src/store/decision-id.ts";
import type { DecisionEvent, Voted } from "../../src/store/events.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { seal } from "../../src/store/seal.ts";
import { daysIn, fileOf, folderOf } from "../../src/store/sqlite/days.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { COUNTS } from "../../src/store/tally.ts";
import { toHalf } from "../../src/store/vector.ts";

/** Models of the sandbox, so that a gateway serves the log. */
const MODELS = ["pebble-mini", "forge-coder", "abacus-14b", "quill-32b", "summit-pro"];
const DAY_MS = 86_400_000;
const DAYS = 30;
const X = toHalf(Float64Array.from({ length: 16 }, (_, i) => Math.sin(i) / 4));

/** A place for a log: a SQLite file, or the URL of a PostgreSQL database. */
export interface Place {
  readonly file?: string;
  readonly url?: string;
}

export function openPlace({ file, url }: Place): Promise<Store> {
  return url === undefined ? openSqlite(file!) : openPostgres(url);
}

/**
 * Fills a log with requests of the last 30 days. The first `base` are recorded one by one; copies
 * of their rows, with ids of their own, make up the rest, and their counts are multiplied.
 */
export async function fillLog(place: Place, base: number, copies: number): Promise<void> {
  const store = await openPlace(place);
  const start = Date.now() - DAYS * DAY_MS;
  for (let from = 0; from < base; from += 500) {
    const events = Array.from({ length: 500 }, (_, i) => requestOf(from + i, start, base));
    await store.record(events.flat());
    const votes = events.slice(0, 20).map(([decision]) => voteOn(decision!));
    await store.append(votes);
  }
  await store.close();
  if (copies === 1) return;
  if (place.url !== undefined) await copyPostgres(place.url, copies);
  else
    for (const day of daysIn(folderOf(place.file!)))
      copyDay(fileOf(folderOf(place.file!), day), copies);
}

function requestOf(n: number, start: number, base: number): DecisionEvent[] {
  const at = Math.floor(start + (n * DAYS * DAY_MS) / base);
  // The last three digits number the copies.
  const id = `${newDecisionId(at).slice(0, -3)}000`;
  const model = MODELS[n % MODELS.length]!;
  const common = { router: "auto", at } as const;
  return [
    {
      kind: "routed",
      ...common,
      id,
      owner: `key_${n % 7}`,
      mode: "apply",
      encoder: "none",
      x: X,
      candidates: MODELS,
      pair: [model, model],
      propensity: 0.98,
      answers: 1,
      seed: n,
      version: 0,
      values: MODELS.map((_, k) => k / 100),
      costs: MODELS.map((_, k) => k / 1000),
      lambda: 1,
      prompt: seal(`Question number ${n}: why is the sky blue?`, id, undefined),
    },
    {
      kind: "answered",
      ...common,
      decision: id,
      slot: 0,
      model,
      // A few requests fail, are slow or expensive.
      status: n % 5000 === 17 ? "failed" : "ok",
      inputTokens: 100,
      outputTokens: 200,
      cost: n % 5000 === 18 ? 1 : 0.001 + (n % 100) / 1e5,
      latencyMs: n % 5000 === 19 ? 60_000 : 500 + (n % 1000),
      priced: { "": { priced: 1 }, [model]: { priced: 1, expected: 0.001, residual_sq: 1e-8 } },
      always: {
        models: MODELS,
        costs: Float64Array.from(MODELS, (_, k) => k / 1000),
        doubts: Float64Array.from(MODELS, () => 1e-6),
      },
    },
  ];
}

function voteOn(decision: DecisionEvent): Voted {
  if (decision.kind !== "routed") throw new Error("not a decision");
  const { id, router, at, pair } = decision;
  const common = { kind: "voted", router, at, decision: id, voter: "ann", source: "user" } as const;
  return { ...common, verdict: { rating: 1 }, weight: 1, encoder: "none", x: X, models: [pair[0]] };
}

function copyDay(file: string, copies: number): void {
  const db = new Sqlite(file);
  db.pragma("synchronous = off");
  const numbers = `WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < ${copies - 1})`;
  const id = (column: string) => `substr(${column}, 1, 33) || printf('%03x', n)`;
  db.transaction(() => {
    db.exec(`
      ${numbers} INSERT INTO decisions (id, router, at, owner, session, x, prompt, body)
        SELECT ${id("id")}, router, at + n, owner, session, x, prompt, body FROM decisions, k;
      ${numbers} INSERT INTO answers (decision, slot, router, at, owner, body)
        SELECT ${id("decision")}, slot, router, at + n, owner, body FROM answers, k;
      UPDATE tallies SET ${COUNTS.map((name) => `${name} = ${name} * ${copies}`).join(", ")};`);
  })();
  db.close();
}

async function copyPostgres(url: string, copies: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const id = (column: string) => `substr(${column}, 1, 33) || lpad(to_hex(n), 3, '0')`;
  const { rows } = await client.query<{ day: number }>("SELECT DISTINCT day FROM decisions");
  for (const { day } of rows) {
    await client.query(`
      INSERT INTO decisions (day, id, router, at, owner, session, x, prompt, body)
        SELECT day, ${id("id")}, router, at + n, owner, session, x, prompt, body
        FROM decisions, generate_series(1, ${copies - 1}) n WHERE day = ${day};
      INSERT INTO answers (day, decision, slot, router, at, owner, body, model, outcome, cost, latency_ms)
        SELECT day, ${id("decision")}, slot, router, at + n, owner, body, model, outcome, cost, latency_ms
        FROM answers, generate_series(1, ${copies - 1}) n WHERE day = ${day};`);
  }
  await client.query(
    `UPDATE tallies SET ${COUNTS.map((name) => `${name} = ${name} * ${copies}`).join(", ")}`,
  );
  await client.query("VACUUM ANALYZE");
  await client.end();
}
