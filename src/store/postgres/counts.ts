import { joined, literal, sql, type Work } from "../sql.ts";
import { COUNTS, spending, type Tallied, type Tally, tally } from "../tally.ts";

/** Adds events to the counts of a shard. Call it last in a transaction: it locks rows. */
export function* count(events: readonly Tallied[], shard: number): Work<void> {
  yield* addTallies(tally(events), shard);
  const sums = spending(events).sort((a, b) => (a.owner < b.owner ? -1 : 1));
  if (sums.length === 0) return;
  const column = (name: "owner" | "month" | "cost") => sums.map((sum) => sum[name]);
  yield sql`
    INSERT INTO spending AS old (shard, owner, month, cost)
    SELECT ${shard}::integer, t.* FROM unnest(
      ${column("owner")}::text[], ${column("month")}::text[], ${column("cost")}::double precision[]) t
    ON CONFLICT (owner, month, shard) DO UPDATE SET cost = old.cost + excluded.cost`;
}

/** Adds tallies, or subtracts them with factor -1. Sorted, so that two transactions lock rows in the same order. */
export function* addTallies(
  unsorted: readonly Tally[],
  shard: number,
  factor: 1 | -1 = 1,
): Work<void> {
  if (unsorted.length === 0) return;
  const keyOf = ({ router, bucket, model }: Tally) => JSON.stringify([router, bucket, model]);
  const tallies = unsorted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const column = (name: "router" | "bucket" | "model") => tallies.map((one) => one[name]);
  const counts = COUNTS.map(
    (name) => sql`${tallies.map((one) => factor * one.counts[name])}::double precision[]`,
  );
  yield sql`
    INSERT INTO tallies AS old (shard, router, bucket, model, ${literal(COUNTS.join(", "))})
    SELECT ${shard}::integer, t.* FROM unnest(
      ${column("router")}::text[], ${column("bucket")}::bigint[], ${column("model")}::text[],
      ${joined(counts, ", ")}) t
    ON CONFLICT (router, bucket, model, shard) DO UPDATE
    SET ${literal(COUNTS.map((name) => `${name} = old.${name} + excluded.${name}`).join(", "))}`;
}
