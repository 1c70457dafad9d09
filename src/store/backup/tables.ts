import { searchedFields } from "../decision-row.ts";
import type { Answered } from "../events.ts";
import { COUNTS } from "../tally.ts";

/** A table of the main file or of a day, which both databases have with these columns. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns that are sums over the shards of PostgreSQL. */
  readonly sums?: readonly string[];
  /** Columns that only PostgreSQL stores, computed from a row of a file. */
  readonly computed?: {
    readonly columns: readonly string[];
    readonly of: (row: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  };
}

/** Tables of the main file. Leases, nodes and the progress of a conversion belong to one installation and are not copied. */
export const MAIN_TABLES: readonly Table[] = [
  {
    name: "log",
    columns: ["position", "router", "kind", "at", "decision", "ballot", "voter", "x", "body"],
  },
  { name: "snapshots", columns: ["router", "position", "at", "hash", "state", "checksum"] },
  { name: "horizons", columns: ["router", "position"] },
  { name: "embeddings", columns: ["decision", "until", "x"] },
  { name: "responses", columns: ["id", "owner", "until", "body"] },
  { name: "client_ids", columns: ["owner", "id", "decision", "until"] },
  { name: "keys", columns: ["id", "body"] },
  { name: "configurations", columns: ["revision", "at", "document", "sealed"] },
  { name: "audit", columns: ["id", "body"] },
  { name: "ended_sessions", columns: ["id", "until"] },
  { name: "secrets", columns: ["name", "value"] },
  { name: "tallies", columns: ["router", "bucket", "model"], sums: COUNTS },
  { name: "spending", columns: ["owner", "month"], sums: ["cost"] },
];

/** Tables of a day. */
export const DAY_TABLES: readonly Table[] = [
  {
    name: "decisions",
    columns: ["id", "router", "at", "owner", "session", "x", "prompt", "body"],
  },
  {
    name: "answers",
    columns: ["decision", "slot", "router", "at", "owner", "body"],
    computed: {
      columns: ["model", "outcome", "cost", "latency_ms"],
      of: ({ body }) => ({ ...searchedFields(JSON.parse(String(body)) as Partial<Answered>) }),
    },
  },
];
