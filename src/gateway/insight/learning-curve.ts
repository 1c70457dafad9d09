import { Random } from "../../random/random.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { trafficOf } from "./traffic.ts";
import { type Worth, worthOf } from "./worth.ts";

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
  const random = Random.seeded(view.version).split("learning");
  const stretches: Stretch[] = [];
  for (let i = 0; i < recent.length; i += size) {
    const part = recent.slice(i, i + size);
    const traffic = trafficOf(view, part);
    const worth = worthOf(view, traffic, random.split(i));
    if (!worth) continue;
    stretches.push({
      from: new Date(part[0]!.at).toISOString(),
      to: new Date(part.at(-1)!.at).toISOString(),
      requests: traffic.length,
      regret: worth.regret,
      win_rate: worth.winRate,
    });
  }
  return {
    object: "learning",
    router: router.name,
    posterior_version: view.version,
    stretches,
  };
}

const STRETCHES = 16;
const LEAST = 4;
