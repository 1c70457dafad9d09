import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { DEFAULT_ENCODER, openEncoder } from "../../core/encoder/open-encoder.ts";
import { readReference } from "../../core/encoder/reference.ts";
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import type { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config, RouterConfig } from "../config/config.ts";
import { Hosts } from "../providers/hosts.ts";
import {
  checkKeys,
  type PlacedModel,
  type Placement,
  placementOf,
  type SandboxModels,
} from "../providers/model-specs.ts";
import type { Provider } from "../providers/providers.ts";
import { ServedModel } from "../providers/served-model.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import { readSandbox, Sandbox } from "../sandbox/sandbox.ts";
import { type Calibration, openCalibration } from "./calibration.ts";
import { LiveRouter, type RouterTools } from "./live-router.ts";
import type { PolicyKinds } from "./policy-kinds.ts";
import type { Serving } from "./serving.ts";

export interface BuilderOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project's folder of data, and where encoders are found. */
  readonly data: string;
  readonly encoders: EncoderPlaces;
  /** Where paths in the configuration start. */
  readonly folder: string;
  readonly random: Random;
  readonly kinds: PolicyKinds;
  readonly clock: Clock;
  readonly onRetry: (model: string, error: UpstreamError) => void;
}

/** Makes of a configuration what is served; what does not change is taken over from before. */
export class Builder {
  readonly #options: BuilderOptions;
  readonly #hosts: Hosts;
  readonly #calibrations = new Map<string, Promise<Calibration>>();
  #placed: readonly PlacedModel[] = [];
  #sandbox: { readonly key: string; readonly opened: Promise<Sandbox> } | undefined;

  constructor(options: BuilderOptions) {
    this.#options = options;
    this.#hosts = new Hosts(options.clock);
  }

  /** Everything that can be found wrong without serving it; keys are missed by those alone who serve. */
  async check(config: Config): Promise<Placement> {
    return (await this.#prepareAll(config, undefined)).placement;
  }

  async build(config: Config, tools: RouterTools, before?: Serving): Promise<Serving> {
    checkKeys(config, this.#options.env);
    const { placement, models, sandbox, prepared } = await this.#prepareAll(config, before);
    // From here on nothing is refused: the new configuration is taken up.
    const routers = new Map<string, LiveRouter>();
    for (const takeUp of prepared) {
      const router = await takeUp(tools);
      routers.set(router.name, router);
    }
    this.#placed = placement.models;
    return { config, from: placement.from, models, routers, sandbox };
  }

  async #prepareAll(config: Config, before: Serving | undefined) {
    const openSandbox = () => this.#openSandbox(config);
    const names = async (): Promise<SandboxModels> => {
      const sandbox = await openSandbox();
      return {
        names: sandbox.profile.models,
        price: (model) => sandbox.price(model),
        capabilities: (model) => sandbox.capabilities(model),
      };
    };
    const ask = (provider: Provider) => this.#ask(provider);
    const placement = await placementOf(config, this.#options.env, names, ask);
    const usesSandbox = placement.models.some(({ provider }) => provider === undefined);
    const sandbox = usesSandbox ? await openSandbox() : undefined;
    const models = new Map(
      placement.models.map((placed) => [placed.spec.name, this.#model(placed, sandbox, before)]),
    );
    checkRouters(config, models);
    const prepared = await Promise.all(
      Object.entries(config.routers).map(([name, router]) =>
        this.#prepare(name, router, models, before),
      ),
    );
    return { placement, models, sandbox, prepared };
  }

  /** Lets go of what is served no more. */
  async release(before: Serving, now: Serving): Promise<void> {
    const kept = new Set(now.routers.values());
    const gone = [...before.routers.values()].filter((router) => !kept.has(router));
    await Promise.all(gone.map((router) => router.close()));
    const hosted = this.#placed.flatMap(({ provider, limits }) =>
      provider ? [{ provider, limits }] : [],
    );
    this.#hosts.retain(hosted);
  }

  async close(serving?: Serving): Promise<void> {
    await Promise.all([...(serving?.routers.values() ?? [])].map((router) => router.close()));
    const calibrations = await Promise.allSettled(this.#calibrations.values());
    for (const result of calibrations) {
      if (result.status === "fulfilled") await result.value.encoder.close();
    }
    await this.#hosts.close();
  }

  /** A router that is ready to be taken up; until then the one before is as it was. */
  async #prepare(
    name: string,
    config: RouterConfig,
    models: ReadonlyMap<string, ServedModel>,
    before: Serving | undefined,
  ): Promise<(tools: RouterTools) => Promise<LiveRouter>> {
    const { kinds, folder } = this.#options;
    await kinds.open(name, config, folder);
    const calibration = await this.#calibrate(config).catch((error: unknown) => {
      throw inFile(error, name, config);
    });
    const own = new Map(
      (config.models ?? [...models.keys()]).map((model) => [model, models.get(model)!]),
    );
    const old = before?.routers.get(name);
    if (old && old.calibration === calibration) {
      return async () => {
        await old.change(config, own);
        return old;
      };
    }
    return async (tools) => {
      // One learner a router: the old one's has to go first.
      await old?.close();
      return LiveRouter.open(name, config, own, calibration, tools);
    };
  }

  #calibrate({ encoder, bundle, scores }: RouterConfig): Promise<Calibration> {
    const key = JSON.stringify([encoder, bundle, scores]);
    const { data, encoders, folder } = this.#options;
    const at = (path: string | undefined) => (path === undefined ? path : resolve(folder, path));
    // A name, unless there is such a folder.
    const named =
      encoder !== undefined && existsSync(at(readReference(encoder).base)!) ? at(encoder) : encoder;
    const own = { encoder: named, bundle: at(bundle), scores: at(scores) };
    const found =
      this.#calibrations.get(key) ??
      openCalibration(own, { data, encoders }).catch((error) => {
        this.#calibrations.delete(key);
        throw error;
      });
    this.#calibrations.set(key, found);
    return found;
  }

  #model(placed: PlacedModel, sandbox: Sandbox | undefined, before?: Serving): ServedModel {
    const { spec, provider, limits } = placed;
    const { clock, random, onRetry } = this.#options;
    const host = provider ? this.#hosts.get(provider, limits) : sandbox!;
    const model = new ServedModel(spec, host, { clock, random, onRetry });
    const old = before?.models.get(spec.name);
    if (old) model.inherit(old);
    return model;
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

  /** What a local host has. */
  async #ask(provider: Provider): Promise<string[]> {
    const host = this.#hosts.get(provider, {});
    const names = await host.models?.(AbortSignal.timeout(ASK_MS)).catch((error: unknown) => {
      throw new InputError(
        { file: "the environment", field: provider.name },
        `cannot be asked for its models at ${provider.url}: ${messageOf(error)}`,
        "start it, correct its address, or name the models in joust.yaml",
      );
    });
    return names ?? [];
  }
}

const ASK_MS = 5000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Names of models that the file could not check, since they come from elsewhere. */
function checkRouters({ routers }: Config, models: ReadonlyMap<string, ServedModel>): void {
  const known = [...models.keys()];
  for (const [name, { models: own, fallback, judge }] of Object.entries(routers)) {
    const used = { models: own ?? [], fallback, "judge.model": judge?.model };
    for (const [field, value] of Object.entries(used)) {
      for (const model of [value].flat()) {
        if (model === undefined || models.has(model)) continue;
        throw new InputError(
          { file: "joust.yaml", field: `routers.${name}.${field}` },
          `"${model}" is not known`,
          `${didYouMean(model, known)}there is ${known.join(", ")}`,
        );
      }
    }
    if (models.has(name)) {
      throw new InputError(
        { file: "joust.yaml", field: `routers.${name}` },
        "is the name of a model too",
        "rename the router",
      );
    }
  }
}

/** An encoder or a bundle that cannot be opened, at the router that names it. */
function inFile(error: unknown, router: string, { bundle, scores }: RouterConfig): unknown {
  if (!(error instanceof InputError)) return error;
  const isTable = scores !== undefined && error.file.endsWith(scores);
  const field = isTable ? "scores" : bundle === undefined ? "encoder" : "bundle";
  const problem = isTable ? `${scores}: ${error.problem}` : error.problem;
  return new InputError(
    { file: "joust.yaml", field: `routers.${router}.${field}` },
    problem,
    error.hint,
  );
}
