import type pg from "pg";
import { COUNTS, spending, type Tallied, type Tally, tally } from "../tally.ts";

/** Adds events to the counts of a shard. Call it last in a transaction: it locks rows. */
export async function count(
  client: pg.PoolClient,
  events: readonly Tallied[],
  shard: number,
): Promise<void> {
  await addTallies(client, tally(events), shard);
  await addSpending(client, events, shard);
}

/** Adds tallies, or subtracts them with factor -1. Sorted, so that two transactions lock rows in the same order. */
export async function addTallies(
  client: pg.PoolClient,
  unsorted: readonly Tally[],
  shard: number,
  factor: 1 | -1 = 1,
): Promise<void> {
  if (unsorted.length === 0) return;
  const keyOf = ({ router, bucket, model }: Tally) => JSON.stringify([router, bucket, model]);
  const tallies = unsorted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const columns = COUNTS.map((_, i) => `$${i + 5}::double precision[]`).join(", ");
  await client.query(
    `INSERT INTO tallies AS old (shard, router, bucket, model, ${COUNTS.join(", ")})
     SELECT $1::integer, t.* FROM unnest($2::text[], $3::bigint[], $4::text[], ${columns}) t
     ON CONFLICT (router, bucket, model, shard) DO UPDATE
     SET ${COUNTS.map((name) => `${name} = old.${name} + excluded.${name}`).join(", ")}`,
    [
      shard,
      tallies.map(({ router }) => router),
      tallies.map(({ bucket }) => bucket),
      tallies.map(({ model }) => model),
      ...COUNTS.map((name) => tallies.map(({ counts }) => factor * counts[name])),
    ],
  );
}

async function addSpending(
  client: pg.PoolClient,
  events: readonly Tallied[],
  shard: number,
): Promise<void> {
  const sums = spending(events).sort((a, b) => (a.owner < b.owner ? -1 : 1));
  if (sums.length === 0) return;
  await client.query(
    `INSERT INTO spending AS old (shard, owner, month, cost)
     SELECT $1::integer, t.* FROM unnest($2::text[], $3::text[], $4::double precision[]) t
     ON CONFLICT (owner, month, shard) DO UPDATE SET cost = old.cost + excluded.cost`,
    [
      shard,
      sums.map(({ owner }) => owner),
      sums.map(({ month }) => month),
      sums.map(({ cost }) => cost),
    ],
  );
}
