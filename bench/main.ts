/**
 * `npm run -s bench -- NAME [--json]` prints {"bench", "ratios", "figures"}.
 * Ratios compare within the run; figures are absolute and mean little on a
 * shared machine.
 */
import { parseArgs } from "node:util";

export interface BenchResult {
  readonly ratios: Record<string, number>;
  readonly figures: Record<string, number>;
}

/** How much of it; a bench that needs none of them leaves them alone. */
export interface BenchFlags {
  readonly rounds?: number | undefined;
  readonly kills?: number | undefined;
  readonly minutes?: number | undefined;
}

type Bench = (names: readonly string[], flags: BenchFlags) => Promise<BenchResult>;

const BENCHES: Record<string, { summary: string; load: () => Promise<Bench> }> = {
  core: {
    summary: "decision and update time of joust against history and pool size, FGTS.CDB beside it",
    load: async () => (await import("./core.ts")).core,
  },
  fit: {
    summary:
      "contrastive fine-tuning of MiniLM, time and peak memory against PyTorch in the same run",
    load: async () => (await import("./fit.ts")).fit,
  },
  encode: {
    summary:
      "MiniLM in float32 and in 8 bits, one text at a time and in batches, against sentence-transformers in the same run",
    load: async () => (await import("./encode.ts")).encode,
  },
  encoders: {
    summary:
      "category accuracy of every encoder, fine-tuned or not, and what was tried for the static one; writes docs/encoders.md",
    load: async () => (await import("./encoders.ts")).encoders,
  },
  tune: {
    summary:
      "options of every policy for `policies`, the same budget for each; writes bench/tuned.json",
    load: async () => (await import("./tune.ts")).tune,
  },
  policies: {
    summary:
      "regret of every policy on real data (routerbench, llmrouter or both), tuned on the other; writes docs/policies.md",
    load: async () => (await import("./policies.ts")).policies,
  },
  beyond: {
    summary: "each addition to the paper on and off; writes docs/beyond.md",
    load: async () => (await import("./beyond.ts")).beyond,
  },
  gateway: {
    summary:
      "what the gateway adds to a call, beside a bare pass-through, Portkey and LiteLLM; writes docs/performance.md",
    load: async () => (await import("./gateway.ts")).gateway,
  },
  faults: {
    summary: "kill -9 of the gateway at --kills random moments under load (200): nothing is lost",
    load: async () => (await import("./faults.ts")).faults,
  },
  clients: {
    summary: "OpenAI's Python client and schemathesis against the gateway",
    load: async () => (await import("./clients.ts")).clients,
  },
  soak: {
    summary:
      "the gateway at half of its maximum for --minutes (30): memory, p99 and errors as time goes on",
    load: async () => (await import("./soak.ts")).soak,
  },
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
    rounds: { type: "string" },
    kills: { type: "string" },
    minutes: { type: "string" },
  },
});
const name = positionals[0] ?? "";
const bench = BENCHES[name];
const flags: BenchFlags = {
  rounds: amount(values.rounds),
  kills: amount(values.kills),
  minutes: amount(values.minutes),
};
const isUsable = !Object.values(flags).some(Number.isNaN);
if (!bench || !isUsable || values.help) {
  const known = Object.entries(BENCHES).map(
    ([key, { summary }]) => `  ${key.padEnd(10)} ${summary}`,
  );
  const usage = "usage: npm run -s bench -- NAME [--rounds N] [--kills N] [--minutes N] [--json]";
  console.error(`${usage}\n\n${known.join("\n")}`);
  process.exitCode = values.help ? 0 : 2;
} else {
  const run = await bench.load();
  const { ratios, figures } = await run(positionals.slice(1), flags);
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

/** NaN where it is no amount. */
function amount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return Number(text) > 0 ? Number(text) : Number.NaN;
}
