import { existsSync } from "node:fs";
import { InputError } from "../../core/input/input-error.ts";
import { checkingBuilder } from "../../gateway/check-gateway.ts";
import { forecastLog, forecastPool, type LogForecast } from "../../gateway/insight/log-forecast.ts";
import { ownOptions } from "../../gateway/own-options.ts";
import { poolOf } from "../../gateway/routing/calibration.ts";
import { PolicyKinds } from "../../gateway/routing/policy-kinds.ts";
import { plural } from "../../lab/report/words.ts";
import { servedConfiguration } from "../serve/configuration.ts";
import { type ShowProgress, watchedStore, withProgress } from "../shared/progress.ts";
import { drawBar } from "../shared/status-line.ts";
import {
  configurationFlags,
  databaseOf,
  fileOf,
  knownRouter,
  type StoreFlags,
  storeOf,
  withStore,
} from "../shared/store-flags.ts";

export interface ForecastFlags extends StoreFlags {
  readonly config?: string | undefined;
  readonly scores?: string | undefined;
  readonly tradeoff?: number | undefined;
  readonly horizon: number;
  readonly futures: number;
  readonly json?: boolean | undefined;
}

/** Forecasts when routing pays, and prints it. Returns the exit code. */
export async function runForecast(flags: ForecastFlags): Promise<number> {
  const places = configurationFlags(flags);
  const { config, file } = await servedConfiguration(places);
  const name = knownRouter(Object.keys(config.routers), flags.router);
  const router = config.routers[name]!;
  const kinds = new PolicyKinds();
  const options = ownOptions(config, file, places.data);
  await kinds.open(name, router, options.folder);
  const { horizon, futures, tradeoff = router.cost_quality_tradeoff } = flags;
  const settings = (show: ShowProgress) => ({
    findPolicy: kinds.find,
    tradeoff,
    horizon,
    futures,
    onFuture: (future: number) =>
      show(`${drawBar(future, futures)} future ${future} of ${futures}`),
  });
  const place = storeOf(config, flags);
  const hasLog = databaseOf(place) !== undefined || existsSync(fileOf(place));
  let isUnlearned = false;
  const found = await withProgress(async (show) => {
    const fromLog =
      flags.scores === undefined && hasLog
        ? await withStore(place, async (store) => {
            const own = await forecastLog(watchedStore(store, show), name, settings(show));
            isUnlearned = !own && (await store.head(name)) > 0;
            return own;
          })
        : undefined;
    return fromLog ?? (await fromConfiguration(show));
  });
  if (!found) {
    throw new InputError(
      { file: `router ${name}` },
      `has the policy ${router.policy.name}, which has no posterior to draw from`,
      "use the policy joust",
    );
  }
  if (isUnlearned) {
    process.stderr.write(
      `joust: the log has votes of the router ${name} that no gateway has learned, so the forecast leaves them out\nhint: start joust serve, which learns them, and run the command again\n`,
    );
  }
  process.stdout.write(
    flags.json ? `${JSON.stringify({ router: name, ...found })}\n` : forecastText(name, found),
  );
  return 0;

  async function fromConfiguration(show: ShowProgress): Promise<LogForecast | undefined> {
    const builder = checkingBuilder(options);
    try {
      const models = await builder.models(config);
      const names = router.models ?? [...models.keys()];
      const own = flags.scores === undefined ? router : { ...router, scores: flags.scores };
      const pool = poolOf(await builder.calibration(own), names);
      const prices = names.map((model) => models.get(model)?.spec.price);
      const costs = Float64Array.from(prices, (price) =>
        price ? (USUAL_PROMPT * price.input + USUAL_ANSWER * price.output) / 1e6 : Number.NaN,
      );
      const { name: policy, options: policyOptions } = router.policy;
      return forecastPool(
        { pool, policy, options: policyOptions, weighVoters: router.weigh_voters },
        costs.some(Number.isNaN) ? undefined : costs,
        settings(show),
      );
    } finally {
      await builder.close();
    }
  }
}

/** Tokens of a typical prompt and answer, for routers without traffic. */
const USUAL_PROMPT = 500;
const USUAL_ANSWER = 300;

/** The forecast as sentences. */
export function forecastText(router: string, found: LogForecast): string {
  const { verdict, sure, reached, votes, dollars, horizon, futures, learned } = found;
  const head = `Router ${router}, after ${plural(learned, "vote")}: routing beats the best single model with a probability of ${(100 * sure).toFixed(0)}%.`;
  const missed = Math.round((1 - reached) * futures);
  const most = (value: number | null) => (value === null ? `more than ${horizon}` : `${value}`);
  if (verdict === "now") return `${head}\nRouting pays now.\n`;
  if (verdict === "never") {
    return `${head}\nNot with this pool: in ${missed} of ${futures} simulated futures, the probability stays below 95% for ${horizon} more votes. The models do not differ enough between categories at this price of quality.\n`;
  }
  const usd = (value: number) => `$${value.toFixed(2)}`;
  const cost =
    dollars?.median == null || dollars.lo === null
      ? ""
      : ` Both answers of these duels cost about ${usd(dollars.median)} (90% interval: ${usd(dollars.lo)} ${dollars.hi === null ? "or more" : `to ${usd(dollars.hi)}`}).`;
  return `${head}\nAbout ${votes.median} more votes until it is 95% (90% interval: ${most(votes.lo)} to ${most(votes.hi)}).${cost}\n`;
}
