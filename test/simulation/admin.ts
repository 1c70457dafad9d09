import { InputError } from "../../src/core/input/input-error.ts";
import { forget, freeze, rollBack, thaw, weigh } from "../../src/learner/controls.ts";
import { withModels } from "../../src/learner/events.fixture.ts";
import { configured, MODELS } from "../../src/store/events.fixture.ts";
import type { Configured } from "../../src/store/events.ts";
import { StoreUnavailable } from "../../src/store/store-error.ts";
import type { SimulatedProcess } from "./node.ts";
import { anyProcess, type ClientParts } from "./voters.ts";

/** Voters whose votes may be erased. */
const FORGETTABLE = ["v3", "v4"];
/** Voters whose weight may be set, one of which may be erased too. */
const WEIGHABLE = ["v1", "v3"];
/** Weights that voters get; the last one includes an excluded voter again. */
const WEIGHTS = [0, 0.5, 1];
const KINDS = [
  "freeze",
  "thaw",
  "thaw",
  "roll back",
  "roll back",
  "weigh",
  "forget",
  "configure",
] as const;

/** Freezes and thaws learning, rolls it back, weighs or forgets a voter, or changes the configuration, on any node. */
export async function controlLearning(parts: ClientParts, policy: string): Promise<void> {
  const { scheduler, nodes, checks } = parts;
  const kind = KINDS[scheduler.random.integer(KINDS.length)]!;
  const process = anyProcess(scheduler, nodes);
  if (!process) return;
  scheduler.note(process.name, kind);
  try {
    await CONTROLS[kind](process, parts, policy);
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof InputError) return;
    checks.fail(`${kind} failed: ${String(error)}`);
  }
}

type Control = (process: SimulatedProcess, parts: ClientParts, policy: string) => Promise<unknown>;

const CONTROLS: Record<(typeof KINDS)[number], Control> = {
  freeze: (process) => freeze(process.store, "auto", process.date()),
  thaw: (process, { scheduler }) =>
    thaw(process.store, "auto", process.date(), scheduler.chance(0.6)),
  "roll back": (process, { scheduler, checks }) => {
    const target = scheduler.chance(0.3)
      ? { time: process.date() - Math.round(scheduler.between(0, 3000)) }
      : { position: scheduler.random.integer(checks.head + 1) };
    return rollBack(process.store, "auto", target, process.date());
  },
  weigh: (process, { scheduler }) => {
    const voter = WEIGHABLE[scheduler.random.integer(WEIGHABLE.length)]!;
    const weight = WEIGHTS[scheduler.random.integer(WEIGHTS.length)]!;
    return weigh(process.store, "auto", { voter, weight }, process.date());
  },
  forget: (process, { scheduler }) => {
    const voter = FORGETTABLE[scheduler.random.integer(FORGETTABLE.length)]!;
    return forget(process.store, "auto", voter, process.date());
  },
  configure: (process, { scheduler }, policy) =>
    process.store.append([configurationOf(policy, scheduler.random.integer(6), process.date())]),
};

/** Configuration n: other models for small n, settings that make learning start again for larger ones. */
export function configurationOf(policy: string, n: number, at: number): Configured {
  const base = configured({ policy, at });
  const pools = [MODELS, MODELS.slice(0, 3), [...MODELS.slice(1), "eel"], MODELS.toReversed()];
  const models = pools[n];
  if (models) return { ...base, pool: withModels(models) };
  return n === 4 ? { ...base, seed: 8 } : { ...base, weighVoters: false };
}
