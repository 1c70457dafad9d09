import { crc32 } from "node:zlib";
import type { Voted } from "../events.ts";
import { eventOf, type LoggedRow, rowOf } from "../row.ts";
import type { SnapshotContent } from "../store.ts";
import { tally } from "../tally.ts";
import { inserter } from "./append.ts";
import type { Connection } from "./connect.ts";
import { tallyAdder } from "./counts.ts";

/** Erases the votes and the weight of a voter, as `Store.forget` describes. Returns their number and the position of the control. */
export function forget(
  db: Connection,
  router: string,
  voter: string,
  at: number,
  start: SnapshotContent | undefined,
): { readonly votes: number; readonly position: number } {
  const run = db.transaction(() => {
    const ofVoter = "kind = 'voted' AND router = ? AND voter = ?";
    const rows = db
      .prepare<[string, string], LoggedRow>(`SELECT * FROM log WHERE ${ofVoter}`)
      .all(router, voter);
    // The first condition makes SQLite use the index of controls.
    const weighings = db
      .prepare(
        "DELETE FROM log WHERE kind <> 'voted' AND kind = 'voter_weighed' AND router = ? AND voter = ?",
      )
      .run(router, voter).changes;
    if (rows.length === 0 && weighings === 0 && !start) return { votes: 0, position: 0 };
    tallyAdder(db)(tally(rows.map(eventOf<Voted>)), -1);
    db.prepare(`DELETE FROM log WHERE ${ofVoter}`).run(router, voter);
    const votes = rows.length;
    const position = inserter(db)(rowOf({ kind: "voter_forgotten", router, at, votes }));
    db.prepare(`
      DELETE FROM snapshots WHERE router = ? AND position NOT IN (
        SELECT position FROM horizons WHERE router = snapshots.router)`).run(router);
    if (start) {
      db.prepare("UPDATE snapshots SET hash = ?, state = ?, checksum = ? WHERE router = ?").run(
        start.hash,
        start.state,
        crc32(start.state),
        router,
      );
    }
    return { votes, position };
  });
  return run.immediate();
}
