import { formatError, JoustError } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import { isLoopback } from "../../gateway/access/origin.ts";
import { configOf } from "../../gateway/administration/document.ts";
import { openRevision } from "../../gateway/administration/revisions.ts";
import { gatewayFaults, probeGateway } from "../../gateway/check-gateway.ts";
import type { Config } from "../../gateway/config/config.ts";
import { nextSteps } from "../../gateway/config/next-steps.ts";
import { ConfigError } from "../../gateway/config/read-config.ts";
import { ownOptions } from "../../gateway/own-options.ts";
import { missingKeys, type Placement } from "../../gateway/providers/model-specs.ts";
import {
  inStore,
  readConfiguration,
  type ServeFlags,
  vaultOf,
  withFlags,
  withPlace,
} from "./configuration.ts";

/** Reports all errors of the configuration and, with --probe, of the deployments. Returns the exit code. */
export async function check(file: string | undefined, flags: ServeFlags): Promise<number> {
  const { config, placement, revision, errors, warnings = [] } = await findFaults(file, flags);
  for (const error of errors) {
    process.stderr.write(`joust: ${formatError(await withPlace(error, file, flags))}\n`);
  }
  if (errors.length > 1) process.stderr.write(`joust: ${errors.length} errors\n`);
  if (errors.length > 0 || !config || !placement) return 2;
  const names = placement.models.map(({ spec }) => spec.name).join(", ");
  const routers = Object.keys(config.routers).join(", ");
  process.stdout.write(
    `${file ?? (revision === undefined ? "default configuration" : `configuration in the store, revision ${revision}`)}: valid\n  models: ${names}\n  routers: ${routers}\n${keyNote(config)}${aliasNotes(config, placement)}${stepNotes(config)}${warnings.map((warning) => `  warning: ${warning}\n`).join("")}`,
  );
  return flags.probe ? probe(config, file, flags) : 0;
}

async function findFaults(file: string | undefined, flags: ServeFlags) {
  let config: Config | undefined;
  let revision: number | undefined;
  const found: JoustError[] = [];
  try {
    config = await readConfiguration(file, flags);
    if (file === undefined) {
      const stored = await newestStored(config, flags);
      if (stored) ({ config, revision } = stored);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { others = [], rest } = error instanceof ConfigError ? error : {};
    found.push(error, ...others);
    config = rest && withFlags(rest, file, flags);
  }
  if (!config) return { errors: found };
  const missing = missingKeys(config, process.env);
  const { placement, errors, warnings } = await gatewayFaults(ownOptions(config, file, flags.data));
  const all = new Map<string, JoustError>();
  for (const error of [...found, ...missing, ...errors]) {
    if (!(error instanceof JoustError)) throw error;
    all.set(error.message, error);
  }
  return { config, placement, revision, errors: [...all.values()], warnings };
}

/** The newest configuration in the store, or undefined if there is none. Throws if it is invalid. */
async function newestStored(base: Config, flags: ServeFlags) {
  const stored = await inStore(base, flags, (store) => store.configuration());
  if (!stored) return undefined;
  const { revision } = stored;
  return { config: configOf(openRevision(stored, vaultOf(base, flags)), base), revision };
}

/** Calls each deployment and prints how it went. Returns 1 if one of them failed. */
async function probe(config: Config, file: string | undefined, flags: ServeFlags): Promise<number> {
  const results = await probeGateway(ownOptions(config, file, flags.data));
  for (const { model, deployment, ms, error } of results) {
    const line = model === deployment ? model : `${model} at ${deployment}`;
    process.stdout.write(
      error === undefined ? `  ok      ${line}, ${ms} ms\n` : `  failed  ${line}: ${error}\n`,
    );
  }
  const failed = results.filter(({ error }) => error !== undefined).length;
  process.stdout.write(
    failed === 0
      ? `${results.length} of ${results.length} deployments answered a short request\n`
      : `${failed} of ${results.length} deployments failed: correct the errors above, and run joust serve --probe again\n`,
  );
  return failed > 0 ? 1 : 0;
}

/** Notes about aliases that have no effect, because the environment provides a model of this name. */
function aliasNotes({ routers }: Config, { models }: Placement): string {
  const names = new Set(models.map(({ spec }) => spec.name));
  const aliases = Object.entries(routers).flatMap(([router, { aliases: own }]) =>
    own.filter((alias) => names.has(alias)).map((alias) => ({ router, alias })),
  );
  return aliases
    .map(
      ({ router, alias }) =>
        `  note: the alias ${alias} of the router ${router} has no effect: requests with this name go to the model ${alias}\n`,
    )
    .join("");
}

/** Notes about providers without a model. */
function stepNotes(config: Config): string {
  return nextSteps(config)
    .map((step) => `  note: ${step}\n`)
    .join("");
}

/** A note if the gateway needs an API key to start. Keys may also be in the store, which a check does not open. */
function keyNote({ server: { host }, keys }: Config): string {
  if (isLoopback(host) || Object.keys(keys).length > 0) return "";
  return `  note: other machines can reach ${host}, so the gateway starts only if there is an API key: joust keys add NAME\n`;
}
