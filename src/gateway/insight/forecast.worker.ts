/** Worker of the forecasts: folds the log of a router and simulates its future. */
import { serve } from "../../core/threads/serve.ts";
import { openPostgres } from "../../store/postgres/open.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import type { RouterConfig } from "../config/config.ts";
import { PolicyKinds } from "../routing/policy-kinds.ts";
import { forecastLog, type LogForecast } from "./log-forecast.ts";

export interface ForecastTask {
  readonly router: string;
  readonly config: RouterConfig;
  /** Folder that paths in the configuration are relative to. */
  readonly folder: string;
  readonly store: { readonly file: string } | { readonly url: string };
}

const methods = {
  async forecast(task: ForecastTask): Promise<LogForecast | undefined> {
    const { router, config, folder, store: place } = task;
    const kinds = new PolicyKinds();
    await kinds.open(router, config, folder);
    const store = await ("url" in place ? openPostgres(place.url) : openSqlite(place.file));
    try {
      const { cost_quality_tradeoff: tradeoff } = config;
      const size = { horizon: HORIZON, futures: FUTURES };
      return await forecastLog(store, router, { findPolicy: kinds.find, tradeoff, ...size });
    } finally {
      await store.close();
    }
  },
};
export type ForecastMethods = typeof methods;

/** Enough for a dashboard. A forecast takes a few seconds of one processor. */
const HORIZON = 2000;
const FUTURES = 40;

serve(() => methods);
