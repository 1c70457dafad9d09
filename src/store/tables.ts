/** The tables, for kysely. Migrations make them. */
import type { Kysely } from "kysely";
import type { LoggedRow } from "./row.ts";
import type { Counts } from "./tally.ts";

export type Database = Kysely<Tables>;

export interface Tables {
  log: LoggedRow;
  prompts: { decision: string; at: number; sealed: Uint8Array };
  tallies: { router: string; bucket: number; model: string } & Counts;
  spending: { owner: string; month: string; cost: number };
  snapshots: { router: string; position: number; at: number; hash: string; state: Uint8Array };
  leases: { router: string; holder: string; token: number; until: number };
  horizons: { router: string; position: number };
  keys: { id: string; body: string };
  secrets: { name: string; value: Uint8Array };
}
