/** A process that writes decisions for some seconds: node store-writer.ts FILE|URL SECONDS. Started by store.ts. */
import { once } from "node:events";
import type { Decision } from "../src/store/decision.ts";
import { newDecisionId } from "../src/store/decision-id.ts";
import type { DecisionEvent } from "../src/store/events.ts";
import { openPostgres } from "../src/store/postgres/open.ts";
import { openSqlite } from "../src/store/sqlite/open.ts";
import { toHalf } from "../src/store/vector.ts";

const BATCH = 100;
const X = toHalf(Float64Array.from({ length: 256 }, (_, i) => Math.sin(i) / 16));
const MODELS = Array.from({ length: 10 }, (_, k) => `model-${k}`);

const [place = "", seconds = "1"] = process.argv.slice(2);
const store = await (place.startsWith("postgres") ? openPostgres(place) : openSqlite(place));
await store.record(batch());
process.send!("ready");
await once(process, "message");
const end = performance.now() + 1000 * Number(seconds);
let count = 0;
while (performance.now() < end) {
  await store.record(batch());
  count += BATCH;
}
await store.close();
process.send!(count);
process.disconnect();

function batch(): DecisionEvent[] {
  return Array.from({ length: BATCH }, (_, n): DecisionEvent[] => {
    const at = Date.now();
    const id = newDecisionId(at);
    const model = MODELS[n % MODELS.length]!;
    return [decision(id, at, model), answer(id, at, model)];
  }).flat();
}

function decision(id: string, at: number, model: string): Decision {
  return {
    kind: "routed",
    router: "auto",
    at,
    id,
    owner: "key_1",
    mode: "apply",
    encoder: "static@0123456789abcdef",
    x: X,
    candidates: MODELS,
    pair: [model, model],
    propensity: 0.98,
    answers: 1,
    seed: 12345,
    version: 100,
    values: MODELS.map((_, k) => k / 100),
    costs: MODELS.map((_, k) => k / 1000),
    lambda: 1,
    reasons: { tradeoff: 3, uncertainty: MODELS.map(() => 0.01), runner_up: "model-1", win: 0.6 },
  };
}

function answer(decision: string, at: number, model: string): DecisionEvent {
  const usage = { inputTokens: 100, outputTokens: 200, cost: 0.001, latencyMs: 900 };
  const common = { kind: "answered", router: "auto", at, decision, slot: 0 } as const;
  return { ...common, model, status: "ok", owner: "key_1", ...usage };
}
