import { Random } from "../../random/random.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { trafficOf } from "./traffic.ts";
import { type Worth, worthOfEach } from "./worth.ts";

/** How good the choices of a stretch of requests were. */
interface Stretch {
  readonly from: string;
  readonly to: string;
  readonly requests: number;
  readonly regret: Worth["regret"];
  readonly win_rate: Worth["winRate"];
}

/**
 * GET /v1/learning: the recent requests in stretches, the oldest first, and what
 * each stretch's choices were worth by what is believed now. Looking back with
 * one posterior, a falling regret is a router that has learnt.
 */
export function learningCurve(router: LiveRouter): object {
  const { view } = router;
  const recent = router.recent.all.toSorted((a, b) => a.at - b.at);
  const size = Math.max(LEAST, Math.ceil(recent.length / STRETCHES));
  const parts = Array.from({ length: Math.ceil(recent.length / size) }, (_, i) =>
    recent.slice(i * size, (i + 1) * size),
  );
  const traffic = parts.map((part) => trafficOf(view, part));
  const random = Random.seeded(view.version).split("learning");
  const stretches = worthOfEach(view, traffic, random).flatMap((worth, i): Stretch[] => {
    if (!worth) return [];
    const [from, to] = [parts[i]![0]!, parts[i]!.at(-1)!].map(({ at }) =>
      new Date(at).toISOString(),
    );
    const { regret, winRate } = worth;
    return [{ from: from!, to: to!, requests: traffic[i]!.length, regret, win_rate: winRate }];
  });
  return {
    object: "learning",
    router: router.name,
    posterior_version: view.version,
    stretches,
  };
}

const STRETCHES = 16;
const LEAST = 4;
