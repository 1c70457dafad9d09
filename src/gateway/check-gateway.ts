import { Random } from "../core/random/random.ts";
import type { Config } from "./config/config.ts";
import { type BuilderPlaces, builderOptions, checkStoreKey } from "./gateway-parts.ts";
import type { Placement } from "./providers/model-specs.ts";
import { type ProbeResult, probeAll } from "./providers/probe.ts";
import { Builder, type Faults } from "./routing/builder.ts";
import { PolicyKinds } from "./routing/policy-kinds.ts";

/** A configuration to check, and the places from which its parts are read. */
interface CheckOptions extends BuilderPlaces {
  readonly config: Config;
}

/** All errors and warnings of a configuration, and its models if they are valid. */
export async function gatewayFaults(options: CheckOptions): Promise<Faults> {
  const errors: unknown[] = [];
  try {
    checkStoreKey(options.config);
  } catch (error) {
    errors.push(error);
  }
  const builder = checkingBuilder(options);
  try {
    const found = await builder.faults(options.config);
    return { ...found, errors: [...errors, ...found.errors] };
  } catch (error) {
    return { errors: [...errors, error], warnings: [] };
  } finally {
    await builder.close();
  }
}

/** Sends a short request to each deployment of each enabled model, and reports how it went. */
export async function probeGateway(options: CheckOptions): Promise<readonly ProbeResult[]> {
  const builder = checkingBuilder(options);
  try {
    return await probeAll(await builder.models(options.config), options.clock);
  } finally {
    await builder.close();
  }
}

/** A builder for programs that call models or check a configuration without serving it. */
export function checkingBuilder(options: BuilderPlaces, retries?: number): Builder {
  return new Builder({
    ...builderOptions(options),
    retries,
    kinds: new PolicyKinds(),
    random: Random.seeded(1),
    onRetry: () => {},
  });
}

/** Throws if a configuration cannot be served. Opens its encoders, bundles and tables to find out. */
export async function checkGateway(options: CheckOptions): Promise<Placement> {
  const { placement, errors } = await gatewayFaults(options);
  if (errors.length > 0) throw errors[0];
  return placement!;
}
