import type { LearningCurve } from "../../api/insight.ts";
import { Random } from "../../core/random/random.ts";
import type { Decision } from "../../store/decision.ts";
import { uniformSample } from "../../store/decision-id.ts";
import type { Store } from "../../store/store.ts";
import type { Window } from "./numbers.ts";
import { performanceOfEach } from "./performance.ts";
import { type PosteriorView, trafficOf } from "./traffic.ts";

/**
 * GET /v1/learning: divides the requests of a window into stretches, the oldest first, and
 * evaluates the choices in each by the current posterior. All stretches are evaluated by the same
 * posterior, so a falling regret shows that the router has learned.
 */
export async function learningCurve(
  store: Store,
  router: string,
  posterior: PosteriorView,
  window: Window,
): Promise<LearningCurve> {
  const sample = await sampled(store, router, window);
  const size = Math.max(LEAST, Math.ceil(sample.length / STRETCHES));
  const parts = Array.from({ length: Math.ceil(sample.length / size) }, (_, i) =>
    sample.slice(i * size, (i + 1) * size),
  );
  const traffic = parts.map((part) => trafficOf(posterior, part));
  const random = Random.seeded(1).split("learning");
  const stretches = performanceOfEach(posterior, traffic, random).flatMap(
    (performance, i): LearningCurve["stretches"][number][] => {
      if (!performance) return [];
      const { regret, fallen, winRate } = performance;
      return [
        {
          from: new Date(parts[i]![0]!.at).toISOString(),
          to: new Date(parts[i]!.at(-1)!.at).toISOString(),
          requests: traffic[i]!.length,
          shares: sharesOf(parts[i]!),
          regret,
          fallen,
          win_rate: winRate,
        },
      ];
    },
  );
  return { object: "learning", router, posterior_version: posterior.version, stretches };
}

const STRETCHES = 16;
/** Smallest and largest number of requests in a stretch. */
const LEAST = 4;
const MOST = 32;

/** Requests from the whole window: all of them, or some of each part of it. */
async function sampled(store: Store, router: string, { from, to }: Window): Promise<Decision[]> {
  const [oldest] = await store.routed({ router, since: from, limit: 1 });
  const [newest] = await store.decisions({ router, since: from, limit: 1 });
  if (!oldest || !newest) return [];
  const span = newest.decision.at - oldest.at + 1;
  const at = (part: number) => Math.floor(oldest.at + (span * part) / STRETCHES);
  const parts = Array.from({ length: STRETCHES }, async (_, i) => {
    const page = await store.routed({ router, since: at(i), limit: MOST });
    return page.filter((one) => one.at < Math.min(at(i + 1), to));
  });
  return uniformSample((await Promise.all(parts)).flat());
}

function sharesOf(requests: readonly Decision[]): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const { pair } of requests) {
    for (const name of pair) shares[name] = (shares[name] ?? 0) + 0.5 / requests.length;
  }
  return shares;
}
