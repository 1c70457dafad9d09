import {
  type CheckedForecast,
  checkForecast,
  type ForecastSettings,
  judgeForecasts,
} from "../src/gateway/insight/forecast-worlds.fixture.ts";
import type { World } from "../src/gateway/insight/worlds.fixture.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";

const RUNS = 60;
const WORLD: World = { kind: "prior", models: 4, voteScale: 2, ties: 1, told: "none" };
const BASE: ForecastSettings = {
  world: WORLD,
  after: 200,
  horizon: 3000,
  futures: 30,
  tradeoff: 0,
};
const CASES: Readonly<Record<string, ForecastSettings>> = {
  prior: BASE,
  "prior, trade-off 3": { ...BASE, after: 60, horizon: 1000, tradeoff: 3 },
  table: { ...BASE, world: { ...WORLD, kind: "table", voteScale: 10 }, after: 100, horizon: 2000 },
};

/**
 * Measures how often the true number of votes until routing pays lies inside the 90% interval of the
 * forecast, and how often the median is within a factor of two of it. Names select worlds; `--rounds`
 * is the number of worlds.
 */
export async function forecasts(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  for (const [name, settings] of Object.entries(CASES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const all = Array.from({ length: flags.rounds ?? RUNS }, (_, i) =>
      checkForecast(settings, 1000 + i),
    );
    const checked = all.filter((one): one is CheckedForecast => one !== undefined);
    const late = checked.map(({ truth }) => ({ truth, votes: LATE }));
    const [own, others] = [checked, late].map((list) => judgeForecasts(list, settings.horizon));
    ratios[`${name}: true number inside the 90% interval`] = own!.inside;
    ratios[`${name}: median within a factor of two`] = own!.near;
    ratios[`${name}: inside the interval of a forecaster that always says late`] = others!.inside;
    ratios[`${name}: median of that forecaster within a factor of two`] = others!.near;
    ratios[`${name}: share of worlds in which routing pays within the horizon`] =
      checked.filter(({ truth }) => truth < Infinity).length / checked.length;
  }
  return { ratios, figures: {} };
}

/** The forecast of somebody who always says that it takes longer than the horizon. */
const LATE = { median: null, lo: null, hi: null };
