/** Checks the options of `joust simulate` and derives the settings of the simulation from them. */
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { splitOf } from "../../lab/data/groups.ts";
import { plural } from "../../lab/report/words.ts";
import { SETTINGS, type Settings, type Told, type Voters } from "../../lab/simulate/settings.ts";
import { readNumber } from "../shared/flags.ts";

export interface SettingsFlags {
  readonly rounds?: number | undefined;
  readonly runs?: number | undefined;
  readonly seed?: number | undefined;
  readonly offline?: number | undefined;
  readonly told?: Told | undefined;
  /** The SD of --truth noisy:SD. */
  readonly truth?: number | undefined;
  readonly voteScale?: number | undefined;
  readonly ties?: number | undefined;
  readonly delay?: number | undefined;
  readonly voters?: Voters | undefined;
  readonly lambda?: number | undefined;
  readonly stream?: Settings["stream"] | undefined;
}

/** Policies to compare by default: ours, the paper's, and three baselines that show the value of votes. */
export const DEFAULT_POLICIES = "joust,fgts-cdb,zero-feedback,best-fixed,random";

/** Largest default of --rounds. With less data, every query is streamed once. */
export const MOST_ROUNDS = SETTINGS.rounds;

/** The settings for a data set. Refuses options that have no effect on it. */
export function settingsOf(flags: SettingsFlags, dataset: Dataset): Settings {
  const { scores, queries, calibration } = dataset;
  checkBundle(flags, dataset);
  const split = splitOf(dataset, flags.offline ?? SETTINGS.offline);
  const online = split.reduce((sum, { queries, offline }) => sum + queries - offline, 0);
  if (online === 0) {
    throw new InputError(
      { file: "DATA" },
      calibration
        ? "has no query to stream: the bundle was fitted on all of them"
        : "has no query to stream: the only query of each category is an offline query",
      calibration
        ? "give other data, or fit again with a smaller --offline"
        : "give data with at least two queries in a category",
    );
  }
  if (flags.told?.kind === "scores" && !scores) {
    throw new InputError(
      { file: "--told" },
      "is scores, but there is no table of scores",
      "add --scores CSV, or remove the option to use means over the offline queries",
    );
  }
  if (flags.truth && (!scores || queries[0]!.scores)) {
    throw new InputError(
      { file: "--truth" },
      "has no effect: the queries have scores of their own",
      "remove it, or give data whose true scores are those of --scores CSV",
    );
  }
  if (flags.lambda && !scores && !queries.some(({ costs }) => costs)) {
    throw new InputError(
      { file: "--lambda" },
      "needs costs, but the data has none",
      'remove it, add "costs" to the rows, or give --scores CSV',
    );
  }
  const { truth: truthSd = SETTINGS.truthSd, delay = SETTINGS.delay } = flags;
  const rounds = flags.rounds ?? Math.min(online, MOST_ROUNDS);
  if (delay >= rounds) {
    throw new InputError(
      { file: "--delay" },
      `is ${delay}, so no vote arrives within ${plural(rounds, "round")}`,
      "give a smaller delay, or more --rounds",
    );
  }
  return {
    rounds,
    runs: flags.runs ?? SETTINGS.runs,
    seed: flags.seed ?? SETTINGS.seed,
    // The largest number of offline queries of any category.
    offline: Math.max(...split.map(({ offline }) => offline)),
    told: flags.told ?? { kind: calibration ? "bundle" : scores ? "scores" : "offline" },
    truthSd,
    voteScale: flags.voteScale ?? SETTINGS.voteScale,
    ties: flags.ties ?? SETTINGS.ties,
    delay,
    voters: flags.voters ?? SETTINGS.voters,
    lambda: flags.lambda ?? SETTINGS.lambda,
    stream: flags.stream ?? SETTINGS.stream,
  };
}

/** Refuses options that contradict a bundle. */
function checkBundle({ offline, told, lambda }: SettingsFlags, dataset: Dataset): void {
  const { calibration, categories } = dataset;
  if (!calibration) {
    if (told?.kind !== "bundle") return;
    throw new InputError(
      { file: "--told" },
      "is bundle, but there is no bundle",
      "give the bundle: --encoder BUNDLE",
    );
  }
  if (offline !== undefined) {
    throw new InputError(
      { file: "--offline" },
      "is fixed by the bundle, which has its own offline queries",
      "remove it, or give it to joust fit",
    );
  }
  const missing = calibration.categories.filter((name, m) =>
    told?.kind === "scores"
      ? !categories.includes(name)
      : told?.kind === "offline" && calibration.offline[m]!.length === 0,
  );
  if (missing.length > 0) {
    throw new InputError(
      { file: "--told" },
      `is ${told?.kind}, but the data has no ${told?.kind === "scores" ? "" : "offline "}query of the bundle's categories ${missing.join(", ")}`,
      "remove it to use the scores of the bundle",
    );
  }
  if (!lambda || calibration.costs) return;
  throw new InputError(
    { file: "--lambda" },
    "needs costs, but the bundle has none",
    "remove it, or fit with costs",
  );
}

const TOLD = ["scores", "offline", "bundle", "none", "permuted"] as const;

/** Reads --told: scores, offline, bundle, none, permuted or noisy:SD. */
export function readTold(text: string): Told {
  const kind = TOLD.find((known) => known === text);
  if (kind !== undefined) return { kind };
  if (/^noisy(:|$)/.test(text)) return { kind: "noisy", sd: readNoise("--told", text) };
  throw new InputError(
    { file: "--told" },
    `"${text}" is not one of ${TOLD.join(", ")}, noisy:SD`,
    `${didYouMean(text.split(":", 1)[0]!, [...TOLD, "noisy"])}write for example --told offline`,
  );
}

/** Reads --truth and returns the SD of noisy:SD. */
export function readTruth(text: string): number {
  if (/^noisy(:|$)/.test(text)) return readNoise("--truth", text);
  throw new InputError({ file: "--truth" }, `"${text}" is not noisy:SD`, "write --truth noisy:0.1");
}

function readNoise(flag: string, text: string): number {
  const sd = text.slice("noisy:".length);
  if (sd === "") {
    throw new InputError({ file: flag }, "noisy has no SD", `write ${flag} noisy:0.1`);
  }
  return readNumber(`${flag} ${text}`, sd, { from: 0, example: `${flag} noisy:0.1` });
}

/** Number of voters if --voters does not give a count: enough for small shares. */
export const CROWD = 20;

const VOTER_RANGES: Record<keyof Voters, Parameters<typeof readNumber>[2]> = {
  count: { from: 1, to: 1e6, whole: true, example: "--voters count=20" },
  noisy: { from: 0, to: 1, example: "--voters noisy=0.1" },
  malicious: { from: 0, to: 1, example: "--voters malicious=0.1" },
  position: { from: -Infinity, example: "--voters position=0.5" },
  bothBad: { from: 0, example: "--voters bothBad=0.3" },
};

/** Reads --voters: any of count=20,noisy=0.1,malicious=0.1,position=0.5,bothBad=0.3. */
export function readVoters(text: string): Voters {
  const known = Object.keys(VOTER_RANGES);
  const given: Partial<Record<keyof Voters, number>> = {};
  for (const part of text.split(",")) {
    const [key = "", value = ""] = part.split("=").map((piece) => piece.trim());
    if (!isVoterKey(key)) {
      throw new InputError(
        { file: "--voters" },
        `"${key}" is not one of ${known.join(", ")}`,
        `${didYouMean(key, known)}write for example --voters count=20,noisy=0.1`,
      );
    }
    given[key] = readNumber(`--voters ${key}`, value, VOTER_RANGES[key]);
  }
  const voters = { ...SETTINGS.voters, count: CROWD, ...given };
  checkShares(voters);
  return voters;
}

function isVoterKey(key: string): key is keyof Voters {
  return Object.hasOwn(VOTER_RANGES, key);
}

/** Refuses shares above 1, and a share that is less than one voter and so has no effect. */
function checkShares({ count, noisy, malicious }: Voters): void {
  const file = "--voters";
  if (noisy + malicious > 1) {
    const problem = `noisy=${noisy} and malicious=${malicious} sum to more than 1`;
    throw new InputError({ file }, problem, "give shares that sum to 1 or less");
  }
  // The number of voters i with (i + 1/2) / count < share, as castVote counts them.
  const votersIn = (share: number) => Math.ceil(share * count - 0.5);
  const empty =
    noisy > 0 && votersIn(noisy) === 0
      ? "noisy"
      : malicious > 0 && votersIn(noisy + malicious) === votersIn(noisy)
        ? "malicious"
        : undefined;
  if (empty === undefined) return;
  const enough = Math.ceil(1 / (empty === "noisy" ? noisy : malicious));
  throw new InputError(
    { file },
    `the share ${empty} of ${count} voters is less than one voter`,
    `raise count to ${enough} or more`,
  );
}
