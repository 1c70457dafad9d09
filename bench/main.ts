/** Runs a benchmark: `npm run -s bench -- NAME [--json]`. Without a name it lists all benchmarks. */
import { parseArgs } from "node:util";
import type { Bench, BenchFlags } from "./bench.ts";

const BENCHES: Readonly<Record<string, { summary: string; load: () => Promise<Bench> }>> = {
  active: {
    summary:
      "regret after judged pairs, random and those of evaluate --active [WORLD ...] (--rounds)",
    load: async () => (await import("./active.ts")).active,
  },
  coverage: {
    summary: "how often the intervals of the leaderboard contain the truth [WORLD ...] (--rounds)",
    load: async () => (await import("./coverage.ts")).coverage,
  },
  forecast: {
    summary: "how often forecasts contain the true number of votes [WORLD ...] (--rounds)",
    load: async () => (await import("./forecast.ts")).forecasts,
  },
  sandbox: {
    summary: "what routing is worth in the sandbox, compared with each single model (--seeds)",
    load: async () => (await import("./sandbox.ts")).sandbox,
  },
  fit: {
    summary: "fine-tuning of MiniLM: time and memory, compared with PyTorch",
    load: async () => (await import("./fit.ts")).fit,
  },
  encode: {
    summary: "speed of MiniLM in float32 and int8, compared with sentence-transformers",
    load: async () => (await import("./encode.ts")).encode,
  },
  encoders: {
    summary: "category accuracy of all encoders; writes docs/encoders.md",
    load: async () => (await import("./encoders.ts")).encoders,
  },
  tune: {
    summary: "best options of every policy, with the same budget; writes bench/tuned.json",
    load: async () => (await import("./tune.ts")).tune,
  },
  policies: {
    summary: "regret of every policy [routerbench] [llmrouter]; writes docs/policies.md",
    load: async () => (await import("./policies.ts")).policies,
  },
  learning: {
    summary:
      "regret by number of labels and told scores [POLICY ...] (--minutes); writes docs/learning.md",
    load: async () => (await import("./learning.ts")).learning,
  },
  answers: {
    summary:
      "quality and cost of single answers by labels and votes (--rounds, --minutes); writes docs/answers.md",
    load: async () => (await import("./answers.ts")).answers,
  },
  beyond: {
    summary: "each addition to the paper, on and off; writes docs/beyond.md",
    load: async () => (await import("./beyond.ts")).beyond,
  },
  "more-runs": {
    summary: "how likely more runs decide the open claims of a reproduction [FILE] (--rounds)",
    load: async () => (await import("./more-runs.ts")).moreRuns,
  },
  gateway: {
    summary:
      "cost of the gateway, compared with [portkey], --bifrost PROGRAM, --before CHECKOUT; writes docs/performance.md",
    load: async () => (await import("./gateway.ts")).gateway,
  },
  processes: {
    summary: "a gateway in several processes [NUMBER], compared with one process (--rounds)",
    load: async () => (await import("./processes.ts")).processes,
  },
  dialects: {
    summary: "processor time of a translated chunk, compared with JSON.parse and JSON.stringify",
    load: async () => (await import("./dialects.ts")).dialects,
  },
  faults: {
    summary:
      "kills, pauses, restarts and cuts under load [sqlite] [postgres] (--kills, default 1000)",
    load: async () => (await import("./faults.ts")).faults,
  },
  simulation: {
    summary:
      "seeded clusters in virtual time with faults (--seeds, --from), one with its trace (--seed) [bugs]",
    load: async () => (await import("./simulation.ts")).simulation,
  },
  migration: {
    summary: "a store of 0.1 with a million decisions (--rounds) is converted [sqlite] [postgres]",
    load: async () => (await import("./migration.ts")).migration,
  },
  fuzz: {
    summary: "mutated requests to all endpoints (--rounds, default 200,000): no 500, flat memory",
    load: async () => (await import("./fuzz.ts")).fuzz,
  },
  attack: {
    summary: "known attacks on a gateway process [numbers]; none may succeed",
    load: async () => (await import("./attack.ts")).attack,
  },
  store: {
    summary: "decisions per second of one and two writers on SQLite and PostgreSQL",
    load: async () => (await import("./store.ts")).store,
  },
  many: {
    summary:
      "5,000,000 requests in the log (--rounds) against 50,000 (--from), 1,000 models and routers against 10, 10,000 streams [sqlite] [postgres] [models] [routers] [streams]",
    load: async () => (await import("./many.ts")).many,
  },
  scale: {
    summary: "votes and snapshots beyond one database, simulated; writes docs/scale.md",
    load: async () => (await import("./scale.ts")).scale,
  },
  clients: {
    summary:
      "real clients, each with an upstream of each dialect [NAME ...]; writes docs/clients.md",
    load: async () => (await import("./clients/clients.ts")).clients,
  },
  openapi: {
    summary:
      "schemathesis against the sandbox (--rounds, requests per endpoint and phase, default 60)",
    load: async () => (await import("./openapi.ts")).openapi,
  },
  neighbours: {
    summary:
      "p99 of others beside a slow client, a slow upstream and a noisy key [NAME ...] (--rounds)",
    load: async () => (await import("./neighbours.ts")).neighbours,
  },
  soak: {
    summary:
      "memory, p99 and errors of the gateway at 70% of its maximal load (--minutes, default 60)",
    load: async () => (await import("./soak.ts")).soak,
  },
};

const USAGE = `Usage: npm run -s bench -- NAME [--rounds N] [--kills N] [--minutes N] [--seed N] [--seeds N] [--from N] [--folder DIR] [--before DIR] [--bifrost FILE] [--json]

${Object.entries(BENCHES)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join("\n")}

Ratios compare numbers of the same run. Figures are absolute and mean little on a shared machine.`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
    rounds: { type: "string" },
    kills: { type: "string" },
    minutes: { type: "string" },
    seed: { type: "string" },
    seeds: { type: "string" },
    from: { type: "string" },
    folder: { type: "string" },
    before: { type: "string" },
    bifrost: { type: "string" },
  },
});
const [name = "", ...names] = positionals;
const bench = BENCHES[name];
const flags: BenchFlags = {
  rounds: positive(values.rounds),
  kills: positive(values.kills),
  minutes: positive(values.minutes),
  seed: positive(values.seed),
  seeds: positive(values.seeds),
  from: positive(values.from),
  folder: values.folder,
  before: values.before,
  bifrost: values.bifrost,
};
if (values.help || name === "") console.log(USAGE);
else if (!bench || Object.values(flags).some(Number.isNaN)) {
  console.error(
    bench
      ? "an option that takes a number has a value that is not a positive number"
      : `there is no benchmark "${name}"`,
  );
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const run = await bench.load();
  const { ratios, figures } = await run(names, flags);
  if (values.json) console.log(JSON.stringify({ bench: name, ratios, figures }));
  else {
    for (const [title, rows] of Object.entries({ ratios, figures })) {
      console.log(`\n${title}`);
      for (const [key, value] of Object.entries(rows)) {
        console.log(`  ${key.padEnd(44)} ${Number(value.toPrecision(4))}`);
      }
    }
  }
}

/** NaN if the text is not a positive number. */
function positive(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return Number(text) > 0 ? Number(text) : Number.NaN;
}
