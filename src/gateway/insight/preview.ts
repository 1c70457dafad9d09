import { isDeepStrictEqual } from "node:util";
import type { RouterPreview } from "../../api/configuration.ts";
import { Random } from "../../core/random/random.ts";
import { DAY_MS, uniformSample } from "../../store/decision-id.ts";
import type { Store } from "../../store/store.ts";
import type { Config, RouterConfig } from "../config/config.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { Serving } from "../routing/serving.ts";
import { bandOf } from "./performance.ts";
import { type Choices, choicesAt, meanUtilityOf, valuesOn } from "./tradeoff-curve.ts";
import { samplesOf, type TrafficQuery, trafficOf } from "./traffic.ts";

/** Most requests of the log that a preview decides again, newest first. */
const MOST = 1000;
const DAYS = 7;
const SAMPLES = 400;

/** A router with the names of the models that it chooses from. */
interface Settings extends RouterConfig {
  readonly pool: readonly string[];
}

/** The effect that a changed configuration would have had on the requests of the last week, for each router that it changes. */
export async function previewOf(
  store: Pick<Store, "decisions">,
  serving: Serving,
  next: Config,
  now: number,
): Promise<RouterPreview[]> {
  const known = [...serving.models.values()];
  const off = known.filter(({ spec }) => spec.isDisabled).map(({ name }) => name);
  const named = Object.entries(next.models);
  const nextOff = named.filter(([, { enabled }]) => !enabled).map(([name]) => name);
  const models = named.length > 0 ? named.map(([name]) => name) : [...serving.models.keys()];
  const previews: RouterPreview[] = [];
  for (const live of serving.routers.values()) {
    const pool = live.config.models ?? [...serving.models.keys()];
    const before = { ...live.config, pool: without(pool, off) };
    const config = next.routers[live.name];
    const after = config && { ...config, pool: without(config.models ?? models, nextOff) };
    if (after && isDeepStrictEqual(before, after)) continue;
    previews.push(await previewRouter(store, live, before, after, now));
  }
  return previews;
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  return names.filter((name) => !others.includes(name));
}

async function previewRouter(
  store: Pick<Store, "decisions">,
  { name, view }: LiveRouter,
  before: Settings,
  after: Settings | undefined,
  now: number,
): Promise<RouterPreview> {
  const since = now - DAYS * DAY_MS;
  const page = await store.decisions({ router: name, since, limit: MOST, withX: true });
  const queries = uniformSample(page.map(({ decision }) => ({ ...decision, x: decision.x! })));
  const traffic = trafficOf(view, queries);
  const common = {
    router: name,
    requests: traffic.length,
    left_out: page.length - traffic.length,
  };
  if (!after) {
    const notes = [`Requests that name ${name} get an error: the router does not exist any more.`];
    return { ...common, before: null, after: null, quality: null, notes };
  }
  const notes = notesOn(before, after, view.pool.models, traffic.length);
  if (traffic.length === 0) return { ...common, before: null, after: null, quality: null, notes };
  const values = traffic.map(({ w }) => valuesOn(view, w));
  const [old, changed] = [before, after].map((settings) =>
    choicesWith(settings, view.pool.models, traffic, values),
  ) as [Choices, Choices];
  const effect = (choices: Choices) => effectOf(choices, view.pool.models, traffic);
  // Only requests that are answered in both cases can be compared.
  const both = traffic.flatMap((_, i) => (old[i]! >= 0 && changed[i]! >= 0 ? [i] : []));
  const samples = samplesOf(view, Random.seeded(1).split("preview"), SAMPLES);
  const chosen = both.map((i) => traffic[i]!);
  const [a, b] = [old, changed].map((choices) =>
    meanUtilityOf(
      both.map((i) => choices[i]!),
      chosen,
    ),
  ) as [ReturnType<typeof meanUtilityOf>, ReturnType<typeof meanUtilityOf>];
  const mean = both.reduce(
    (sum, i) => sum + (values[i]![changed[i]!]! - values[i]![old[i]!]!) / both.length,
    0,
  );
  const quality =
    samples.length > 0 && both.length > 0
      ? { ...bandOf(samples.map((sample) => b(sample) - a(sample))), mean }
      : null;
  return { ...common, before: effect(old), after: effect(changed), quality, notes };
}

/** The model that would answer each query with these settings, as an index in the pool; -1 if none could. */
function choicesWith(
  { pool, mode, fallback, cost_quality_tradeoff: tradeoff }: Settings,
  models: readonly string[],
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
): Choices {
  const fixed = fallback === undefined ? -1 : models.indexOf(fallback);
  if (mode !== "apply") return traffic.map(() => fixed);
  const allowed = new Set(pool.map((name) => models.indexOf(name)));
  const limited = traffic.map((query) => ({
    ...query,
    candidates: query.candidates.filter((k) => allowed.has(k)),
  }));
  return choicesAt(tradeoff, limited, values);
}

function effectOf(
  choices: Choices,
  models: readonly string[],
  traffic: readonly TrafficQuery[],
): NonNullable<RouterPreview["after"]> {
  const answered = choices.filter((k) => k >= 0).length;
  const shares: Record<string, number> = {};
  let cost: number | null = 0;
  choices.forEach((k, i) => {
    if (k < 0) return;
    const name = models[k]!;
    shares[name] = (shares[name] ?? 0) + 1 / answered;
    const price = traffic[i]!.costs?.[k];
    cost = cost === null || price === undefined || Number.isNaN(price) ? null : cost + price;
  });
  return {
    shares,
    cost: cost === null || answered === 0 ? null : cost / answered,
    unanswered: choices.length - answered,
  };
}

/** Sentences about effects that deciding the requests again does not show. */
function notesOn(
  before: Settings,
  after: Settings,
  known: readonly string[],
  requests: number,
): string[] {
  const notes: string[] = [];
  const fresh = after.pool.filter((name) => !known.includes(name));
  if (fresh.length > 0) {
    notes.push(
      `${fresh.join(", ")} would be new, and nothing is known about new models: the numbers leave them out.`,
    );
  }
  if (requests === 0)
    notes.push("There was no request in the last seven days that can be decided again.");
  if (!isDeepStrictEqual(before.duels, after.duels)) {
    const most = after.duels.mode === false ? 0 : Math.floor(after.duels.share * requests);
    notes.push(
      `Besides the duels that clients request, at most ${most} of these ${requests} requests would have had a second answer.`,
    );
  }
  if (!isDeepStrictEqual(before.judge, after.judge)) {
    const judged = after.judge ? Math.round(after.judge.share * requests) : 0;
    notes.push(
      `The judge would have compared about ${judged} answers, each at the cost of a call.`,
    );
  }
  if (before.budget !== after.budget) {
    notes.push(
      "A budget raises the trade-off while the mean cost is above it; this is not predicted.",
    );
  }
  if (before.guard !== after.guard) {
    notes.push("The guard acts only while votes show that routing is worse than the best model.");
  }
  const isOtherPolicy = !isDeepStrictEqual(
    [before.policy, before.encoder, before.bundle, before.scores],
    [after.policy, after.encoder, after.bundle, after.scores],
  );
  if (isOtherPolicy) {
    notes.push(
      "Another policy, encoder or table of scores learns again from all votes; this is not predicted.",
    );
  }
  return notes;
}
