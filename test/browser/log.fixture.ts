import { join } from "node:path";
import type { DecisionEvent } from "../../src/store/events.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";

/** Fills a data folder with this many decisions, one per second, the last one just now. */
export async function fillLog(folder: string, count: number): Promise<void> {
  const store = await openSqlite(join(folder, "joust.db"));
  const models = ["pebble-mini", "abacus-14b", "quill-32b", "summit-pro"];
  const now = Date.now();
  for (let from = 0; from < count; from += 1000) {
    const events = Array.from({ length: Math.min(1000, count - from) }, (_, i): DecisionEvent[] => {
      const n = from + i;
      const model = models[n % models.length]!;
      const at = now - 1000 * (count - n);
      const decision = `seeded-${n}`;
      const common = { router: "auto", at };
      return [
        {
          kind: "routed",
          ...common,
          id: decision,
          mode: "apply",
          encoder: "none",
          x: new Float64Array(4),
          candidates: models,
          pair: [model, model],
          propensity: 1,
          seed: n,
          version: 0,
          values: [0.01, 0.05, 0.02, 0.04],
          costs: [0.0001, 0.0003, 0.0008, 0.01],
          lambda: 1,
          reasons: {
            tradeoff: 3,
            categories: { gsm8k: 0.8 },
            runner_up: models[(n + 1) % 4],
            win: 0.6,
          },
        },
        {
          kind: "answered",
          ...common,
          decision,
          slot: 0,
          model,
          status: "ok",
          inputTokens: 50,
          outputTokens: 100,
          cost: 0.0002,
          latencyMs: 900,
        },
      ];
    });
    await store.record(events.flat());
  }
  await store.close();
}
