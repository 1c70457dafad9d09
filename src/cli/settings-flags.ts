/** The options of `simulate` that become Settings. */
import { InputError } from "../core/input/input-error.ts";
import { didYouMean } from "../core/input/nearest.ts";
import type { Dataset } from "../lab/data/dataset.ts";
import { splitOf } from "../lab/data/groups.ts";
import { plural } from "../lab/report/words.ts";
import { SETTINGS, type Settings, type Told, type Voters } from "../lab/simulate/settings.ts";
import { readNumber } from "./shared/flags.ts";

export interface SettingsFlags {
  readonly rounds?: number | undefined;
  readonly runs?: number | undefined;
  readonly seed?: number | undefined;
  readonly offline?: number | undefined;
  readonly told?: Told | undefined;
  /** The sd of --truth noisy:SD. */
  readonly truth?: number | undefined;
  readonly voteScale?: number | undefined;
  readonly ties?: number | undefined;
  readonly delay?: number | undefined;
  readonly voters?: Voters | undefined;
  readonly lambda?: number | undefined;
  readonly stream?: Settings["stream"] | undefined;
}

/** The most rounds where --rounds is not given; with less data every query comes once. */
export const MOST_ROUNDS = SETTINGS.rounds;

/** Settings for this data; refuses options that it cannot heed. */
export function settingsOf(flags: SettingsFlags, dataset: Dataset): Settings {
  const { scores, queries, calibration } = dataset;
  checkBundle(flags, dataset);
  const split = splitOf(dataset, flags.offline ?? SETTINGS.offline);
  const online = split.reduce((sum, { queries, offline }) => sum + queries - offline, 0);
  if (online === 0) {
    throw new InputError(
      { file: "DATA" },
      calibration
        ? "leaves no query to stream: the bundle was fitted on all of them"
        : "leaves no query to stream: every category has one only, which is set aside",
      calibration
        ? "give other data, or fit again with a smaller --offline"
        : "give data with two queries or more in a category",
    );
  }
  if (flags.told?.kind === "scores" && !scores) {
    throw new InputError(
      { file: "--told" },
      "scores are to be told but there is no table of them",
      "add --scores CSV, or leave it out: means over the offline queries are told then",
    );
  }
  if (flags.truth && (!scores || queries[0]!.scores)) {
    throw new InputError(
      { file: "--truth" },
      "has nothing to change: the queries have scores of their own",
      "leave it out, or give data whose truth is the --scores CSV",
    );
  }
  if (flags.lambda && !scores && !queries.some(({ costs }) => costs)) {
    throw new InputError(
      { file: "--lambda" },
      "needs costs and the data has none",
      'leave it out, or add "costs" to the rows or --scores CSV',
    );
  }
  const { truth: truthSd = SETTINGS.truthSd, delay = SETTINGS.delay } = flags;
  const rounds = flags.rounds ?? Math.min(online, MOST_ROUNDS);
  if (delay >= rounds) {
    throw new InputError(
      { file: "--delay" },
      `is ${delay}, so that no vote arrives within ${plural(rounds, "round")}`,
      "give a smaller one, or more --rounds",
    );
  }
  return {
    rounds,
    runs: flags.runs ?? SETTINGS.runs,
    seed: flags.seed ?? SETTINGS.seed,
    // As many as were set aside anywhere: categories are never halved by more.
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

/** What a bundle has decided, and what it cannot be asked for. */
function checkBundle({ offline, told, lambda }: SettingsFlags, dataset: Dataset): void {
  const { calibration, categories } = dataset;
  if (!calibration) {
    if (told?.kind !== "bundle") return;
    throw new InputError(
      { file: "--told" },
      "is bundle and there is none",
      "name it: --encoder BUNDLE",
    );
  }
  if (offline !== undefined) {
    throw new InputError(
      { file: "--offline" },
      "was decided when the bundle was fitted: its own queries are set aside",
      "leave it out, or give it to joust fit",
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
      `is ${told?.kind}, and of the bundle's categories the data has no ${told?.kind === "scores" ? "" : "offline "}query of ${missing.join(", ")}`,
      "leave it out: the bundle's own scores are told then",
    );
  }
  if (!lambda || calibration.costs) return;
  throw new InputError(
    { file: "--lambda" },
    "needs costs and the bundle has none",
    "leave it out, or fit with costs",
  );
}

const TOLD = ["scores", "offline", "bundle", "none", "permuted"] as const;

/** scores, offline, bundle, none, permuted or noisy:SD. */
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

/** The SD of noisy:SD. */
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

/** How many voters there are where only their quirks are given: enough for small shares. */
export const CROWD = 20;

const VOTER_RANGES: Record<keyof Voters, Parameters<typeof readNumber>[2]> = {
  count: { from: 1, to: 1e6, whole: true, example: "--voters count=20" },
  noisy: { from: 0, to: 1, example: "--voters noisy=0.1" },
  malicious: { from: 0, to: 1, example: "--voters malicious=0.1" },
  position: { from: -Infinity, example: "--voters position=0.5" },
  bothBad: { from: 0, example: "--voters bothBad=0.3" },
};

/** count=20,noisy=0.1,malicious=0.1,position=0.5,bothBad=0.3, any of them. */
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

/** A share of so few voters that it is nobody would change nothing and look as if it had. */
function checkShares({ count, noisy, malicious }: Voters): void {
  const file = "--voters";
  if (noisy + malicious > 1) {
    const problem = `noisy=${noisy} and malicious=${malicious} are more than all`;
    throw new InputError({ file }, problem, "give shares that sum to 1 or less");
  }
  // How many i have (i + 1/2) / count < share, as castVote draws the line.
  const upTo = (share: number) => Math.ceil(share * count - 0.5);
  const nobody =
    noisy > 0 && upTo(noisy) === 0
      ? "noisy"
      : malicious > 0 && upTo(noisy + malicious) === upTo(noisy)
        ? "malicious"
        : undefined;
  if (nobody === undefined) return;
  const enough = Math.ceil(1 / (nobody === "noisy" ? noisy : malicious));
  throw new InputError(
    { file },
    `${nobody} is a share of ${count} voters that comes to nobody`,
    `raise count to ${enough} or more`,
  );
}
