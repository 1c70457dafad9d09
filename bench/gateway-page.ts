import { cpus } from "node:os";
import type { Table } from "../src/lab/report/table.ts";
import { fillPage, publish } from "./publish.ts";

/** Medians of one gateway: times in milliseconds, memory in MB. */
export interface GatewayRow {
  readonly gateway: string;
  readonly addedP50: number;
  readonly rate16: number;
  readonly rate64: number;
  readonly cpu: number;
  readonly firstChunk: number;
  readonly pacedFirstChunk: number;
  readonly streams: number;
  readonly streamCpu: number;
  readonly memory: number;
}

interface GatewayReport {
  readonly rows: readonly GatewayRow[];
  readonly ratios: Readonly<Record<string, number>>;
  /** Microseconds by stage. */
  readonly stages: Readonly<Record<string, number>>;
  /** Megabytes of Joust by number of requests. */
  readonly memory: ReadonlyMap<number, number>;
}

const COLUMNS = [
  { key: "gateway", title: "gateway", kind: "text" },
  { key: "addedP50", title: "added p50, ms", kind: "number" },
  { key: "rate16", title: "requests/s, 16 concurrent", kind: "whole" },
  { key: "rate64", title: "requests/s, 64 concurrent", kind: "whole" },
  { key: "cpu", title: "CPU ms per request", kind: "number" },
  { key: "firstChunk", title: "added time to first chunk, ms", kind: "number" },
  { key: "pacedFirstChunk", title: "the same, 16 paced streams, ms", kind: "number" },
  { key: "streams", title: "streams/s, 16 concurrent", kind: "whole" },
  { key: "streamCpu", title: "CPU ms per stream", kind: "number" },
  { key: "memory", title: "memory after load, MB", kind: "whole" },
] satisfies Table["columns"];

/** Goals for ratios: a limit, and whether it is a minimum. */
const GOALS: Readonly<Record<string, readonly [limit: number, isMinimum: boolean]>> = {
  "added p50, joust / floor": [1.5, false],
  "added time to first chunk, joust / floor": [2, false],
  "added time to first chunk, 16 paced streams, joust / floor": [2, false],
  "streams per second, joust / floor": [0.9, true],
  "requests per second, 16 concurrent, joust / bifrost": [1, true],
  "requests per second, 64 concurrent, joust / bifrost": [1, true],
  "CPU time per request, joust / bifrost": [0.75, false],
  "added p50, joust / portkey": [0.6, false],
  "requests per second, 16 concurrent, joust / portkey": [2.2, true],
};

const MOST_MEMORY = 180;
const MOST_GROWTH = 0.05;

/** Writes the measured part of docs/performance.md. */
export async function writePage({ rows, ratios, stages, memory }: GatewayReport): Promise<void> {
  const table = {
    title: "What each gateway adds to a request",
    columns: COLUMNS,
    rows: rows
      .filter(({ gateway }) => gateway !== "before")
      .map((row) => COLUMNS.map(({ key }) => row[key as keyof GatewayRow])),
  } satisfies Table;
  const goals = Object.entries(GOALS).flatMap(([name, [limit, isMinimum]]) => {
    const ratio = ratios[name];
    if (ratio === undefined) return [];
    const isMet = isMinimum ? ratio >= limit : ratio <= limit;
    return [
      `| ${name} | ${ratio.toFixed(2)} | at ${isMinimum ? "least" : "most"} ${limit}${isMet ? "" : ": missed"} |`,
    ];
  });
  const text = `Measured on ${cpus().length} cores with Node ${process.versions.node}. The table is also available as
[CSV](tables/performance.csv) and [LaTeX](tables/performance.tex).

${await publish("performance", table)}
| ratio | measured | goal |
| :-- | --: | :-- |
${goals.join("\n")}

${memoryText(memory)}

Mean times of the stages before the model is called, from Joust's own metrics (\`joust_stage_seconds\`):
${Object.entries(stages)
  .map(([stage, micros]) => `${stage} ${micros.toFixed(0)} us`)
  .join(", ")}.`;
  await fillPage("performance.md", text);
}

function memoryText(memory: GatewayReport["memory"]): string {
  const steps = [...memory].map(([requests, megabytes]) => `${megabytes.toFixed(0)} (${requests})`);
  const most = Math.max(...memory.values());
  const last = Math.max(...memory.keys());
  const growth = memory.get(last)! / memory.get(0)! - 1;
  const isMet = most <= MOST_MEMORY && Math.abs(growth) <= MOST_GROWTH;
  return `Memory of Joust after the measurement in MB, with the number of further requests: ${steps.join(", ")}. Over these
${last} requests it changes by ${(100 * growth).toFixed(1)}%. The goal is at most ${MOST_MEMORY} MB and ${100 * MOST_GROWTH}%${isMet ? "" : ": missed"}.`;
}
