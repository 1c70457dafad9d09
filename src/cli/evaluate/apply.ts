/** Gives the result of an evaluation to the router that it is for. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { isMap, parseDocument } from "yaml";
import type { Encoder } from "../../core/encoder/common/encoder.ts";
import { formatErrorLine } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import { replaceFile } from "../../core/input/replace-file.ts";
import { readScores } from "../../core/input/scores.ts";
import { Audit } from "../../gateway/administration/audit.ts";
import {
  FIRST_REVISION,
  openRevision,
  sealRevision,
} from "../../gateway/administration/revisions.ts";
import type { JsonObject } from "../../gateway/administration/secrets.ts";
import { systemClock } from "../../gateway/clock/clock.ts";
import type { Config } from "../../gateway/config/config.ts";
import { parseConfig } from "../../gateway/config/read-config.ts";
import { otherLines, type ScoreLine, scoreFile } from "../../gateway/evaluation/score-table.ts";
import { PROVIDER_NAMES } from "../../gateway/providers/providers.ts";
import { importVotes } from "../../learner/import-votes.ts";
import type { Store } from "../../store/store.ts";
import { inStore, vaultOf } from "../serve/configuration.ts";
import { COMMAND_LINE } from "../shared/audit.ts";
import {
  configurationFlags,
  databaseOf,
  fileOf,
  type StoreFlags,
  storeOf,
  withStore,
} from "../shared/store-flags.ts";

/** The configuration and the router that an evaluation is for. */
export interface Target {
  readonly config: Config;
  /** The configuration file, if there is one. */
  readonly file: string | undefined;
  /** The revision of the configuration in the store; 0 or undefined if nothing was saved there yet. */
  readonly revision?: number | undefined;
  /** The error of a newer revision in the store, which is invalid. */
  readonly invalid?: InputError | undefined;
  readonly router: string;
}

/**
 * Throws if the scores of the router would have to be written into a configuration whose newest revision is invalid.
 * A new revision would replace that one, which somebody still has to correct.
 */
export function checkWritable({ config, invalid, router }: Target): void {
  if (!invalid || config.routers[router]!.scores !== undefined) return;
  throw new InputError(
    { file: "the configuration in the store" },
    `has an invalid newest revision, so no scores can be written into it: ${formatErrorLine(invalid)}`,
    "correct it on the page, under Admin, and run the command again; or leave out --router, and the scores are only written to --out",
  );
}

/**
 * Writes the scores into the table of the router. If the router has none, the configuration gets the new table: the
 * file if there is one, otherwise a new revision in the store. A missing store is created. Scores of other models
 * and categories are kept. Returns what was changed.
 */
export async function applyScores(
  { config, file, revision = 0, router }: Target,
  lines: readonly ScoreLine[],
  own: string,
  flags: StoreFlags,
): Promise<string> {
  const folder = file === undefined ? resolve(".") : dirname(resolve(file));
  const { scores } = config.routers[router]!;
  if (scores !== undefined) {
    const path = resolve(folder, scores);
    const kept = existsSync(path) ? otherLines(await readScores(path), lines) : [];
    await replaceFile(path, scoreFile([...kept, ...lines]));
    return `updated ${scores}, which the router ${router} uses; a gateway that is running has to be restarted`;
  }
  if (file === undefined) return storeScores(config, revision, router, resolve(own), flags);
  const path = relative(folder, resolve(own)).replaceAll("\\", "/");
  const changed = withScores(await readFile(file, "utf8"), router, path);
  parseConfig(changed, file, process.env, PROVIDER_NAMES);
  await replaceFile(file, changed);
  return `changed ${file}: routers.${router}.scores is ${path}`;
}

/** Saves a revision of the stored configuration in which the router has a table of scores. */
async function storeScores(
  config: Config,
  basedOn: number,
  router: string,
  scores: string,
  flags: StoreFlags,
): Promise<string> {
  const places = configurationFlags(flags);
  const vault = vaultOf(config, places);
  const revision = basedOn + 1;
  const save = async (store: Store) => {
    const stored = await store.configuration();
    const newest = stored ? openRevision(stored, vault) : FIRST_REVISION;
    if (newest.revision !== basedOn) return false;
    const { document, secrets } = newest;
    const before = document.routers[router] as JsonObject;
    const after = { ...before, scores };
    const next = { ...document, routers: { ...document.routers, [router]: after } };
    const target = `routers.${router}`;
    const record = new Audit(store, systemClock).newRecord(
      { name: COMMAND_LINE },
      {
        action: "evaluate",
        target,
        revision,
        before: { [target]: before },
        after: { [target]: after },
      },
    );
    const sealed = sealRevision({ document: next, secrets, revision }, record.at, vault);
    return store.saveConfiguration(sealed, record);
  };
  if (!(await inStore(config, places, save, "create"))) {
    throw new InputError(
      { file: "the configuration in the store" },
      "was changed during the evaluation, so the scores were not written into it",
      `run the command again: it continues without paying twice; or write routers.${router}.scores: ${scores}`,
    );
  }
  return `saved revision ${revision} of the configuration in the store: routers.${router}.scores is ${scores}`;
}

/** The configuration with the score table of a router. Comments and layout are kept. */
export function withScores(text: string, router: string, scores: string): string {
  const document = parseDocument(text);
  for (const path of [["routers"], ["routers", router]]) {
    // A name without settings is null, which has no members.
    if (!isMap(document.getIn(path))) document.setIn(path, document.createNode({}));
  }
  document.setIn(["routers", router, "scores"], scores);
  return document.toString();
}

/**
 * Logs the comparisons as votes of the judge, in the store that the flags name or else in that of the configuration. A
 * vote that is in the log already is not logged again.
 */
export async function applyVotes(
  { config, router }: Target,
  votes: string,
  calibration: { readonly encoder: Encoder; readonly encoderName: string },
  models: readonly string[],
  flags: StoreFlags,
): Promise<string> {
  const { encoder, encoderName } = calibration;
  const place = storeOf(config, flags);
  const options = {
    encode: (texts: readonly string[]) => encoder.encode(texts),
    encoder: encoderName,
    dimension: encoder.dimension,
    time: Date.now,
    known: models,
  };
  const imported = await withStore(
    place,
    (store) => importVotes(store, router, votes, options),
    "create",
  );
  const where = databaseOf(place) === undefined ? fileOf(place) : "the database";
  return `logged ${imported.votes} new votes of the judge for the router ${router} in ${where}`;
}
