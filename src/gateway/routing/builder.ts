import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  DEFAULT_ENCODER,
  type EncoderPlaces,
  openEncoder,
} from "../../core/encoder/open-encoder.ts";
import { readReference } from "../../core/encoder/reference.ts";
import { messageOf } from "../../core/errors/joust-error.ts";
import { InputError, type Place } from "../../core/input/input-error.ts";
import { readScores } from "../../core/input/scores.ts";
import type { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config, RouterConfig } from "../config/config.ts";
import { nameFaults } from "../config/references.ts";
import { type Catalog, type CatalogPlaces, openCatalog } from "../providers/catalog/catalog.ts";
import {
  checkKeys,
  type PlacedModel,
  type Placement,
  placementOf,
} from "../providers/model-specs.ts";
import type { Provider } from "../providers/providers.ts";
import { type ModelTools, ServedModel } from "../providers/served-model.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import { Upstreams } from "../providers/upstreams.ts";
import { readSandbox, Sandbox } from "../sandbox/sandbox.ts";
import { type Calibration, Calibrations, unusedScores } from "./calibration.ts";
import { LiveRouter, type PreparedChange, type RouterTools } from "./live-router.ts";
import { refuseOwnAddress } from "./own-address.ts";
import type { PolicyKinds } from "./policy-kinds.ts";
import type { Serving } from "./serving.ts";

export interface BuilderOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the project's data. */
  readonly data: string;
  readonly encoders: EncoderPlaces;
  readonly catalog: CatalogPlaces;
  /** Folder that paths in the configuration are relative to. */
  readonly folder: string;
  readonly random: Random;
  readonly kinds: PolicyKinds;
  readonly clock: Clock;
  readonly onRetry: (model: string, error: UpstreamError) => void;
  readonly onCall?: ModelTools["onCall"];
  readonly onUsed?: ModelTools["onUsed"];
  /** Retries of every model, instead of the configured ones. */
  readonly retries?: number | undefined;
}

/** Builds models and routers from a configuration. Parts that do not change are kept. */
export class Builder {
  readonly #options: BuilderOptions;
  readonly #upstreams: Upstreams;
  readonly #calibrations: Calibrations;
  #placed: readonly PlacedModel[] = [];
  #catalog: Promise<Catalog> | undefined;
  #sandbox: { readonly key: string; readonly opened: Promise<Sandbox> } | undefined;

  constructor(options: BuilderOptions) {
    this.#options = options;
    this.#upstreams = new Upstreams(options.clock, options.env);
    this.#calibrations = new Calibrations(options);
  }

  /**
   * Finds all errors and warnings of a configuration without serving it. Missing provider keys are not an error here.
   * The placement is undefined if the models themselves are in error.
   */
  async faults(config: Config): Promise<Faults> {
    const errors: unknown[] = [];
    const warnings: string[] = [];
    const placed = await this.#place(config).catch(async (error: unknown) => {
      const single = await this.#modelFaults(config);
      errors.push(...(single.length > 0 ? single : [error]));
    });
    const models = placed?.models ?? new Map<string, ServedModel>();
    if (placed) errors.push(...errorsOfNames(config, models));
    const routers = Object.entries(config.routers).map(([name, router]) =>
      this.#routerFaults(name, router),
    );
    errors.push(...(await Promise.all(routers)).flat());
    if (placed && errors.length === 0) {
      for (const [name, router] of Object.entries(config.routers)) {
        const own = router.models ?? [...models.keys()];
        const warning = unusedScores(await this.#calibrate(router), own);
        if (warning !== undefined) warnings.push(`the router ${name}: ${warning}`);
      }
    }
    return { ...(placed && { placement: placed.placement }), errors, warnings };
  }

  /** The errors of the models, each of which is placed alone. */
  async #modelFaults(config: Config): Promise<unknown[]> {
    const single = Object.entries(config.models).map(([name, model]) =>
      this.#place({ ...config, models: { [name]: model } }),
    );
    return reasonsOf(await Promise.allSettled(single));
  }

  /** The errors of a router: of its policy, of its encoder or bundle, and of its scores. */
  async #routerFaults(name: string, config: RouterConfig): Promise<unknown[]> {
    const { kinds, folder } = this.#options;
    const { scores, ...others } = config;
    const [policy, base] = await Promise.allSettled([
      kinds.open(name, config, folder),
      this.#calibrate(others),
    ]);
    const parts: PromiseSettledResult<unknown>[] = [base];
    if (scores !== undefined) {
      // The categories of the table can be compared only with those of an encoder or bundle that opens.
      const isOpen = base.status === "fulfilled";
      const table = isOpen ? this.#calibrate(config) : readScores(resolve(folder, scores));
      parts.push(...(await Promise.allSettled([table])));
    }
    const faults = reasonsOf(parts).map((error) => inFile(error, name, config));
    return [...reasonsOf([policy]), ...faults];
  }

  /** The models of a configuration, ready to be called, without routers. */
  async models(config: Config): Promise<ReadonlyMap<string, ServedModel>> {
    return (await this.#place(config)).models;
  }

  /** Encoder, categories and scores of a router. */
  calibration(router: RouterConfig): Promise<Calibration> {
    return this.#calibrate(router);
  }

  /** Checks a configuration without serving it. Missing provider keys are not an error here. */
  async check(config: Config): Promise<Placement> {
    return (await this.#prepareAll(config, undefined)).placement;
  }

  async build(config: Config, tools: RouterTools, before?: Serving): Promise<Serving> {
    checkKeys(config, this.#options.env);
    const { placement, models, sandbox, prepared } = await this.#prepareAll(config, before);
    const routers = await this.#openRouters(prepared, tools, before);
    this.#placed = placement.models;
    return { config, from: placement.from, models, routers, sandbox };
  }

  /** Opens the routers of a configuration. All previous ones go on unchanged if the store fails. */
  async #openRouters(
    prepared: readonly PreparedRouter[],
    tools: RouterTools,
    before: Serving | undefined,
  ): Promise<Map<string, LiveRouter>> {
    const opened: LiveRouter[] = [];
    const changes: PreparedChange[] = [];
    const routers = new Map<string, LiveRouter>();
    try {
      for (const { name, config, models, calibration, kept } of prepared) {
        const router = kept ?? (await LiveRouter.open(name, config, models, calibration, tools));
        if (!kept) opened.push(router);
        routers.set(name, router);
      }
      for (const { config, models, kept } of prepared) {
        if (kept) changes.push(await kept.prepare(config, models));
      }
      await tools.store.append(changes.flatMap(({ events }) => events));
    } catch (error) {
      await Promise.all(opened.map((router) => router.close()));
      await Promise.all(changes.map((change) => change.discard()));
      throw error;
    }
    await Promise.all(changes.map((change) => change.apply()));
    for (const router of opened) {
      // A router has one learner, so the previous one is closed first.
      await before?.routers.get(router.name)?.close();
      router.learn();
    }
    return routers;
  }

  async #prepareAll(config: Config, before: Serving | undefined) {
    const { placement, models, sandbox } = await this.#place(config);
    const [fault] = errorsOfNames(config, models);
    if (fault) throw fault;
    const prepared = await Promise.all(
      Object.entries(config.routers).map(([name, router]) =>
        this.#prepare(name, router, models, before),
      ),
    );
    return { placement, models, sandbox, prepared };
  }

  /** Finds the models of a configuration and connects them to their upstreams. */
  async #place(config: Config) {
    this.#catalog = undefined;
    const openSandbox = () => this.#openSandbox(config);
    const { server } = config;
    const listModels = (provider: Provider) => {
      const place = config.providers[provider.name]
        ? { file: "joust.yaml", field: `providers.${provider.name}` }
        : { file: "the environment", field: provider.name };
      refuseOwnAddress(provider, server, place);
      return this.#listModels(provider, place);
    };
    const { env } = this.#options;
    const catalog = () => this.#openCatalog();
    const placement = await placementOf(config, env, openSandbox, listModels, catalog);
    for (const { spec, deployments } of placement.models) {
      const place = { file: "joust.yaml", field: `models.${spec.name}` };
      for (const { provider } of deployments) {
        if (provider) refuseOwnAddress(provider, server, place);
      }
    }
    const usesSandbox = placement.models.some(({ deployments }) =>
      deployments.some(({ provider }) => provider === undefined),
    );
    const sandbox = usesSandbox ? await openSandbox() : undefined;
    const models = new Map(
      placement.models.map((placed) => [placed.spec.name, this.#model(placed, sandbox)]),
    );
    return { placement, models, sandbox };
  }

  /** Closes routers, encoders and upstreams that are no longer served. */
  async release(before: Serving, now: Serving): Promise<void> {
    const kept = new Set(now.routers.values());
    const gone = [...before.routers.values()].filter((router) => !kept.has(router));
    await Promise.all(gone.map((router) => router.close()));
    await Promise.all(gone.map((router) => router.encoded()));
    await this.#calibrations.retain([...kept].map(({ calibration }) => calibration));
    const hosted = this.#placed.flatMap(({ deployments, limits }) =>
      deployments.flatMap(({ provider }) => (provider ? [{ provider, limits }] : [])),
    );
    this.#upstreams.retain(hosted);
  }

  async close(serving?: Serving): Promise<void> {
    await Promise.all([...(serving?.routers.values() ?? [])].map((router) => router.close()));
    await this.#calibrations.close();
    await this.#upstreams.close();
  }

  /** Checks a router and opens its encoder. The previous router is unchanged. */
  async #prepare(
    name: string,
    config: RouterConfig,
    models: ReadonlyMap<string, ServedModel>,
    before: Serving | undefined,
  ): Promise<PreparedRouter> {
    const { kinds, folder } = this.#options;
    await kinds.open(name, config, folder);
    const calibration = await this.#calibrate(config).catch((error: unknown) => {
      throw inFile(error, name, config);
    });
    const own = new Map(
      (config.models ?? [...models.keys()]).map((model) => [model, models.get(model)!]),
    );
    const old = before?.routers.get(name);
    const kept = old?.calibration === calibration ? old : undefined;
    return { name, config, models: own, calibration, kept };
  }

  #calibrate({ encoder, bundle, scores }: RouterConfig): Promise<Calibration> {
    const { folder } = this.#options;
    const at = (path: string | undefined) => (path === undefined ? path : resolve(folder, path));
    // `encoder` is a name unless a folder of that name exists.
    const named =
      encoder !== undefined && existsSync(at(readReference(encoder).base)!) ? at(encoder) : encoder;
    return this.#calibrations.open({ encoder: named, bundle: at(bundle), scores: at(scores) });
  }

  #model(placed: PlacedModel, sandbox: Sandbox | undefined): ServedModel {
    const { spec, deployments, limits } = placed;
    const { clock, random, onRetry, onCall, onUsed, retries = spec.retries } = this.#options;
    const upstreams = deployments.map(({ spec: own, provider }) => ({
      spec: own,
      upstream: provider ? this.#upstreams.get(provider, limits) : sandbox!,
    }));
    return new ServedModel({ ...spec, retries }, upstreams, {
      clock,
      random,
      onRetry,
      ...(onCall && { onCall }),
      ...(onUsed && { onUsed }),
    });
  }

  /** The catalog of models, which is read again for each configuration. */
  #openCatalog(): Promise<Catalog> {
    this.#catalog ??= openCatalog(this.#options.catalog);
    return this.#catalog;
  }

  #openSandbox({ sandbox: { seed, speed } }: Config): Promise<Sandbox> {
    const key = JSON.stringify([seed, speed]);
    if (this.#sandbox?.key !== key) {
      const { data, encoders, clock } = this.#options;
      const opened = openEncoder(DEFAULT_ENCODER, encoders)
        .then((encoder) => readSandbox(data, encoder))
        .then((read) => new Sandbox(read, { seed, speed, clock }));
      this.#sandbox = { key, opened };
    }
    return this.#sandbox.opened;
  }

  async #listModels(provider: Provider, place: Place): Promise<string[]> {
    const upstream = this.#upstreams.get(provider, {});
    const names = await upstream.models?.(AbortSignal.timeout(LIST_MS)).catch((error: unknown) => {
      throw new InputError(
        place,
        `did not list its models at ${provider.url}: ${messageOf(error)}`,
        "start it, correct its address or its key, or name its models under `models`: the list is read only if none is named",
      );
    });
    return names ?? [];
  }
}

/** Everything that a check finds in a configuration. */
export interface Faults {
  readonly placement?: Placement;
  readonly errors: readonly unknown[];
  readonly warnings: readonly string[];
}

interface PreparedRouter {
  readonly name: string;
  readonly config: RouterConfig;
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly calibration: Calibration;
  /** The previous router, if it goes on with the same encoder and scores. */
  readonly kept: LiveRouter | undefined;
}

const LIST_MS = 5000;

function reasonsOf(results: readonly PromiseSettledResult<unknown>[]): unknown[] {
  return results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
}

/** Errors about names of models that come from the environment, which the file alone cannot check. */
function errorsOfNames(config: Config, models: ReadonlyMap<string, ServedModel>): InputError[] {
  return [...nameFaults(config, [...models.keys()])].map(
    ({ path, problem, hint }) =>
      new InputError({ file: "joust.yaml", field: path.map(String).join(".") }, problem, hint),
  );
}

/** Adds the router's field and its value to the error of an encoder, bundle or table that cannot be opened. */
function inFile(error: unknown, router: string, config: RouterConfig): unknown {
  if (!(error instanceof InputError)) return error;
  const { encoder, bundle, scores } = config;
  const isTable = scores !== undefined && error.file.endsWith(scores);
  const field = isTable ? "scores" : bundle === undefined ? "encoder" : "bundle";
  const value = isTable ? scores : (bundle ?? encoder ?? DEFAULT_ENCODER);
  const isNamed = error.problem.includes(value);
  const place = error.line === undefined ? value : `${value}:${error.line}`;
  const subject = error.field === undefined ? "" : `field "${error.field}": `;
  return new InputError(
    { file: "joust.yaml", field: `routers.${router}.${field}` },
    isNamed ? error.problem : `${place}: ${subject}${error.problem}`,
    isTable && !existsSync(error.file) ? RELATIVE : error.hint,
  );
}

const RELATIVE =
  "check the spelling; the path is relative to the folder of the configuration file, or without a file to the folder in which joust runs";
