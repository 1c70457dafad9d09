import type { Logger } from "pino";
import { Thread } from "../../core/threads/thread.ts";
import type { Clock } from "../clock/clock.ts";
import { ALONE, type Peers } from "../peers/peers.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { ForecastMethods, ForecastTask } from "./forecast.worker.ts";
import type { LogForecast } from "./log-forecast.ts";

/**
 * Forecasts of the routers for the dashboard. They are computed in a worker thread, one at a time and only if
 * somebody asks for them, and kept until the posterior or the trade-off has changed. A forecast is
 * computed in one process of this machine, and all know it.
 */
export class Forecasts {
  readonly #place: Pick<ForecastTask, "folder" | "store">;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #known = new Map<string, Known>();
  readonly #peers: Peers;
  #running: Promise<void> | undefined;
  #thread: Thread<ForecastMethods> | undefined;
  #isStopped = false;

  constructor(
    place: Pick<ForecastTask, "folder" | "store">,
    clock: Clock,
    logger: Logger,
    peers: Peers = ALONE,
  ) {
    this.#place = place;
    this.#clock = clock;
    this.#logger = logger;
    this.#peers = peers;
    peers.on("forecast", ([name, key, forecast]: ForecastNews) =>
      this.#known.set(name, { key, at: clock.now(), forecast }),
    );
  }

  /** The last forecast of a router. Starts a new one in the background if it is outdated. */
  of(router: LiveRouter): LogForecast | undefined {
    const { name, config } = router;
    const { version } = router.view;
    const key = `${version} ${config.cost_quality_tradeoff}`;
    const known = this.#known.get(name);
    const hasDoubled = version >= 2 * (known?.forecast?.version ?? Infinity);
    const wait = hasDoubled ? DOUBLED_MS : EVERY_MS;
    const isDue = known?.key !== key && this.#clock.now() - (known?.at ?? -Infinity) >= wait;
    if (isDue && version >= FEWEST && !this.#running && !this.#isStopped) {
      // The other processes are told at once, so that they do not compute the same forecast.
      this.#set(name, key, known?.forecast);
      this.#running = this.#compute(router, key).finally(() => {
        this.#running = undefined;
      });
    }
    return known?.forecast;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#thread?.terminate();
    await this.#running;
  }

  #set(name: string, key: string, forecast: LogForecast | undefined): void {
    this.#known.set(name, { key, at: this.#clock.now(), forecast });
    const news: ForecastNews = [name, key, forecast];
    this.#peers.keep("forecast", `forecast ${name}`, news);
  }

  async #compute({ name, config }: LiveRouter, key: string): Promise<void> {
    this.#thread = new Thread(new URL("./forecast.worker.ts", import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    try {
      const forecast = await this.#thread.methods.forecast({
        router: name,
        config,
        ...this.#place,
      });
      this.#set(name, key, forecast);
    } catch (error) {
      if (!this.#isStopped) this.#logger.error({ err: error, router: name }, "the forecast failed");
    } finally {
      await this.#thread.terminate();
      this.#thread = undefined;
    }
  }
}

type ForecastNews = readonly [router: string, key: string, forecast: LogForecast | undefined];

interface Known {
  /** Version of the posterior, and the trade-off. */
  readonly key: string;
  readonly at: number;
  readonly forecast: LogForecast | undefined;
}

/** Shortest time between two forecasts of a router. */
const EVERY_MS = 5 * 60_000;
/** The same if the votes have doubled since the last one. */
const DOUBLED_MS = 20_000;
/** Votes before which no forecast is made. */
const FEWEST = 20;
