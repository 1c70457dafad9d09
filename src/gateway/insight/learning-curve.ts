import type { Learning } from "../../api/insight.ts";
import { Random } from "../../core/random/random.ts";
import type { Decision } from "../../store/decision.ts";
import type { Logged } from "../../store/events.ts";
import type { Store } from "../../store/store.ts";
import type { Window } from "./numbers.ts";
import { type Belief, trafficOf } from "./traffic.ts";
import { worthOfEach } from "./worth.ts";

/**
 * GET /v1/learning: the requests of a window in stretches, the oldest first, and
 * what each stretch's choices were worth by what is believed now. Looking back
 * with one posterior, a falling regret is a router that has learnt.
 */
export async function learningCurve(
  store: Store,
  router: string,
  belief: Belief,
  window: Window,
): Promise<Learning> {
  const sample = await sampled(store, router, window);
  const size = Math.max(LEAST, Math.ceil(sample.length / STRETCHES));
  const parts = Array.from({ length: Math.ceil(sample.length / size) }, (_, i) =>
    sample.slice(i * size, (i + 1) * size),
  );
  const traffic = parts.map((part) => trafficOf(belief, part));
  const random = Random.seeded(1).split("learning");
  const stretches = worthOfEach(belief, traffic, random).flatMap(
    (worth, i): Learning["stretches"][number][] => {
      if (!worth) return [];
      const { regret, fallen, winRate } = worth;
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
  return { object: "learning", router, posterior_version: belief.version, stretches };
}

const STRETCHES = 16;
/** Requests in a stretch. */
const LEAST = 4;
const MOST = 32;

/** Requests from all over the window: all of them, or some of each part of the log. */
async function sampled(
  store: Store,
  router: string,
  { from, to }: Window,
): Promise<Logged<Decision>[]> {
  const [newest] = await store.decisions({ router, limit: 1 });
  if (!newest) return [];
  const first = await store.positionAt(router, from);
  const end = newest.decision.position;
  const at = (part: number) => Math.floor(first + ((end - first) * part) / STRETCHES);
  const parts = Array.from({ length: STRETCHES }, async (_, i) => {
    const page = await store.routed(router, at(i), MOST);
    return page.filter((one) => one.position <= at(i + 1) && one.at >= from && one.at < to);
  });
  return (await Promise.all(parts)).flat();
}

function sharesOf(requests: readonly Decision[]): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const { pair } of requests) {
    for (const name of pair) shares[name] = (shares[name] ?? 0) + 0.5 / requests.length;
  }
  return shares;
}
