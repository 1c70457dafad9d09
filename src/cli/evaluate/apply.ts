/** Gives the result of an evaluation to the router that it is for. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { isMap, parseDocument } from "yaml";
import { replaceFile } from "../../core/input/replace-file.ts";
import { readScores } from "../../core/input/scores.ts";
import type { Config } from "../../gateway/config/config.ts";
import { parseConfig } from "../../gateway/config/read-config.ts";
import { otherLines, type ScoreLine, scoreFile } from "../../gateway/evaluation/score-table.ts";
import { PROVIDER_NAMES } from "../../gateway/providers/providers.ts";
import type { Calibration } from "../../gateway/routing/calibration.ts";
import { importVotes } from "../../learner/import-votes.ts";
import { DEFAULT_DATA, type StoreFlags, withStore } from "../shared/store-flags.ts";

/** The configuration and the router that an evaluation is for. */
export interface Target {
  readonly config: Config;
  /** The configuration file, if there is one. */
  readonly file: string | undefined;
  readonly router: string;
}

/**
 * Writes the scores into the table of the router. If the router has none, the configuration gets
 * the new table. Scores of other models and categories are kept. Returns what was changed.
 */
export async function applyScores(
  { config, file = "joust.yaml", router }: Target,
  lines: readonly ScoreLine[],
  own: string,
): Promise<string> {
  const folder = dirname(resolve(file));
  const { scores } = config.routers[router]!;
  if (scores !== undefined) {
    const path = resolve(folder, scores);
    const kept = existsSync(path) ? otherLines(await readScores(path), lines) : [];
    await replaceFile(path, scoreFile([...kept, ...lines]));
    return `updated ${scores}, which the router ${router} uses; a gateway that is running has to be restarted`;
  }
  const path = relative(folder, resolve(own)).replaceAll("\\", "/");
  const text = existsSync(file) ? await readFile(file, "utf8") : "";
  const changed = withScores(text, router, path);
  parseConfig(changed, file, process.env, PROVIDER_NAMES);
  await replaceFile(file, changed);
  return `${text === "" ? "created" : "changed"} ${file}: routers.${router}.scores is ${path}`;
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

/** Logs the comparisons as votes of the judge. A vote that is in the log already is not logged again. */
export async function applyVotes(
  { config, router }: Target,
  votes: string,
  calibration: Calibration,
  models: readonly string[],
  flags: StoreFlags,
): Promise<string> {
  const { encoder, encoderName } = calibration;
  const { url } = config.store;
  const place = url !== undefined && flags.data === undefined ? { database: url, ...flags } : flags;
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
  const where = url !== undefined ? "the database" : join(flags.data ?? DEFAULT_DATA, "joust.db");
  return `logged ${imported.votes} new votes of the judge for the router ${router} in ${where}`;
}
