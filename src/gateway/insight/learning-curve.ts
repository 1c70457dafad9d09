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

/**
 * Requests from the whole window: all of them, or some of each part of it. Parts with more requests than are read
 * are divided as long as the others have few, because most requests may come within one of many hours.
 */
async function sampled(store: Store, router: string, { from, to }: Window): Promise<Decision[]> {
  const [oldest] = await store.routed({ router, since: from, limit: 1 });
  const [newest] = await store.decisions({ router, since: from, limit: 1 });
  if (!oldest || !newest) return [];
  const read = async ([since, end]: readonly [number, number]): Promise<Part> => {
    const page = await store.routed({ router, since, limit: MOST });
    const requests = page.filter((one) => one.at < Math.min(end, to));
    return { since, end, requests, isFull: requests.length === MOST };
  };
  const all = [oldest.at, newest.decision.at + 1] as const;
  let parts = await Promise.all(divide(all, STRETCHES).map(read));
  for (let round = 0; round < MOST_DIVISIONS; round++) {
    const isEnough = parts.reduce((sum, { requests }) => sum + requests.length, 0) >= ENOUGH;
    if (isEnough || !parts.some(({ isFull }) => isFull)) break;
    const next = parts.map((part) =>
      part.isFull && part.end - part.since > 1
        ? Promise.all(divide([part.since, part.end], 2).map(read))
        : [part],
    );
    parts = (await Promise.all(next)).flat();
  }
  return uniformSample(parts.flatMap(({ requests }) => requests));
}

/** A part of the window with its first requests. */
interface Part {
  readonly since: number;
  readonly end: number;
  readonly requests: readonly Decision[];
  /** Whether there may be more requests than were read. */
  readonly isFull: boolean;
}

/** Divides a span of time into equal parts. */
function divide([since, end]: readonly [number, number], count: number): [number, number][] {
  const at = (part: number) => Math.floor(since + ((end - since) * part) / count);
  return Array.from({ length: count }, (_, i) => [at(i), at(i + 1)]);
}

/** Number of requests from which no part is divided any more, and the largest number of divisions. */
const ENOUGH = (STRETCHES * MOST) / 2;
const MOST_DIVISIONS = 4;

function sharesOf(requests: readonly Decision[]): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const { pair } of requests) {
    for (const name of pair) shares[name] = (shares[name] ?? 0) + 0.5 / requests.length;
  }
  return shares;
}
