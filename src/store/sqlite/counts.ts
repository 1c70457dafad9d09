import { COUNTS, type spending, type Tally } from "../tally.ts";
import type { Connection } from "./connect.ts";

/** Prepares adding tallies to those of a file, or subtracting them. */
export function tallyAdder(db: Connection): (tallies: readonly Tally[], factor?: 1 | -1) => void {
  const add = db.prepare(`
    INSERT INTO tallies (router, bucket, model, ${COUNTS.join(", ")})
    VALUES (?, ?, ?, ${COUNTS.map(() => "?").join(", ")})
    ON CONFLICT DO UPDATE SET ${COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`);
  return (tallies, factor = 1) => {
    for (const { router, bucket, model, counts } of tallies) {
      add.run(router, bucket, model, ...COUNTS.map((name) => factor * counts[name]));
    }
  };
}

/** Prepares adding amounts to the spending of API keys. */
export function spendingAdder(db: Connection): (sums: ReturnType<typeof spending>) => void {
  const add = db.prepare(`
    INSERT INTO spending (owner, month, cost) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET cost = cost + excluded.cost`);
  return (sums) => {
    for (const { owner, month, cost } of sums) add.run(owner, month, cost);
  };
}
