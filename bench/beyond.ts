import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { excludesZero, mean, pairedDifference } from "../src/core/statistics.ts";
import type { Table } from "../src/lab/report/table.ts";
import { SETTINGS, type Settings, type Voters } from "../src/lab/simulate/settings.ts";
import type { BenchResult } from "./bench.ts";
import { type BenchDataset, openDatasets, openFullRouterBench } from "./datasets.ts";
import { type Episode, playEpisode, ROUNDS, type Scenario, type Variant } from "./episode.ts";
import { DOCS, publish } from "./publish.ts";

const RUNS = 40;
/** The loss that is accepted where an addition cannot help. */
const TOLERANCE = 0.03;

interface Experiment {
  readonly name: string;
  readonly on: Variant;
  readonly off: Variant;
  /** Where the addition should help. */
  readonly helps: Trial;
  /** Where it has little to gain and must not do harm. */
  readonly elsewhere: Trial;
  /** Explanation for an addition that does not help, or that costs too much elsewhere. */
  readonly note?: string;
}

interface Trial extends Measure {
  readonly where: string;
  readonly scenario: Scenario;
  /** Use all eleven models of the table; the last one joins halfway. */
  readonly full?: boolean;
  /** Replaces the variant of the experiment. */
  readonly on?: Variant;
}

interface Measure {
  /** Smaller is better. */
  readonly measure: (episode: Episode) => number;
  readonly unit: string;
}

const regret: Measure = { measure: (episode) => episode.regret, unit: "regret" };
const late: Measure = { measure: (episode) => episode.late, unit: "regret, second half" };
/** Without told scores, so that the router learns only from votes. */
const LEARNING: Partial<Settings> = { told: { kind: "none" }, voteScale: 10 };
const plain: Scenario = {};
const learning: Scenario = { settings: LEARNING };
const BUDGET = 0.15;

const LIARS: Pick<Experiment, "helps" | "elsewhere"> = {
  helps: {
    where: "2 of 6 voters lie",
    scenario: { settings: { ...LEARNING, voters: voters({ count: 6, malicious: 0.34 }) } },
    ...regret,
  },
  elsewhere: {
    where: "6 honest voters",
    scenario: { settings: { ...LEARNING, voters: voters({ count: 6 }) } },
    ...regret,
  },
};

/** All additions, simplest first. */
const EXPERIMENTS: readonly Experiment[] = [
  {
    name: "ties count half",
    on: {},
    off: { options: { ties: 0 } },
    helps: {
      where: "Davidson's ties, width 1",
      scenario: { settings: { ...LEARNING, ties: 1 } },
      ...regret,
    },
    elsewhere: {
      where: "the same ties, told scores exact",
      scenario: { settings: { ties: 1 } },
      ...regret,
    },
    note: "In Davidson's model a tie carries no information if two models are equal, and is rare if they are not.",
  },
  {
    name: "both_bad rates both answers as bad",
    note: "Only a trend: such a vote is about the level of both models, but routing needs their difference.",
    on: {},
    off: { options: { bothBad: 0 } },
    helps: {
      where: "both_bad if both are below 0.6",
      scenario: { settings: { ...LEARNING, voters: voters({ bothBad: 0.6 }) } },
      ...regret,
    },
    elsewhere: {
      where: "the same votes, told scores exact",
      scenario: { settings: { voters: voters({ bothBad: 0.6 }) } },
      ...regret,
    },
  },
  {
    name: "rankings (Plackett-Luce)",
    on: { rankings: true },
    off: {},
    helps: {
      where: "four answers ranked",
      scenario: { ranked: true, settings: LEARNING },
      ...regret,
    },
    elsewhere: { where: "the same, told scores exact", scenario: { ranked: true }, ...regret },
  },
  {
    name: "ratings in addition to votes",
    on: {},
    off: { options: { pointwise: 0 } },
    helps: {
      where: "one round in ten is a duel, the other answers get a rating",
      scenario: { duelShare: 0.1, ratings: { share: 1, slope: 10 }, settings: LEARNING },
      ...regret,
    },
    elsewhere: {
      where: "ratings are random",
      scenario: { ratings: { share: 1, slope: 0 } },
      ...regret,
    },
  },
  {
    name: "cost at request time",
    on: { priced: true },
    off: {},
    helps: { where: "lambda 0.3", scenario: { lambda: 0.3 }, ...regret },
    elsewhere: { where: "lambda 0.01", scenario: { lambda: 0.01 }, ...regret },
  },
  {
    name: "budget pacer",
    note: "The costs of queries differ by a factor of a hundred. An expensive query before anything is saved raises lambda, the weight of cost, for a while.",
    on: { router: { budget: BUDGET } },
    off: {},
    helps: {
      where: `budget of ${BUDGET} times the most expensive model's cost`,
      scenario: plain,
      measure: ({ cost }) => Math.max(0, cost / BUDGET - 1),
      unit: "spending above the budget",
    },
    elsewhere: {
      where: "a budget of five times the spending",
      on: { router: { budget: 3 } },
      scenario: plain,
      ...regret,
    },
  },
  {
    name: "selective duels",
    on: { options: { minGain: 0.005 } },
    off: {},
    helps: {
      where: "told scores exact: little to learn",
      scenario: plain,
      measure: ({ answers }) => answers - 1,
      unit: "second answers per query",
    },
    elsewhere: {
      where: "told scores noisy: much to learn",
      scenario: { settings: { truthSd: 0.1 } },
      ...regret,
    },
  },
  {
    name: "drift",
    note: "What is forgotten must be learned again, so this is off by default.",
    on: { options: { drift: 0.999 } },
    off: {},
    helps: {
      where: "the models exchange their qualities halfway",
      scenario: { exchange: true, settings: LEARNING },
      ...late,
    },
    elsewhere: { where: "nothing changes", scenario: learning, ...regret },
  },
  {
    name: "adding a model keeps what was learned",
    on: { keep: true },
    off: {},
    helps: {
      where: "gpt-4 joins halfway, without told scores",
      scenario: { joins: true, settings: { told: { kind: "permuted" }, voteScale: 10 } },
      full: true,
      ...late,
    },
    elsewhere: {
      where: "claude-v2, a weak model, joins halfway",
      scenario: { joins: true },
      ...late,
    },
  },
  {
    name: "a new model duels the best one",
    on: { keep: true, options: { onboarding: 0.2 } },
    off: { keep: true, options: { onboarding: 0 } },
    note: "Its twelve duels cost the same whether it is good or weak.",
    helps: {
      where: "gpt-4 joins halfway, without told scores",
      scenario: { joins: true },
      full: true,
      ...late,
    },
    elsewhere: {
      where: "claude-v2, a weak model, joins halfway",
      scenario: { joins: true },
      ...late,
    },
  },
  {
    name: "pending duels reduce the uncertainty",
    on: { router: { pending: 64 } },
    off: { router: { pending: 0 } },
    helps: {
      where: "votes 200 rounds late, told scores permuted",
      scenario: { settings: { delay: 200, voteScale: 10, told: { kind: "permuted" } } },
      ...regret,
    },
    elsewhere: {
      where: "votes 20 rounds late, told scores exact",
      scenario: { settings: { delay: 20 } },
      ...regret,
    },
  },
  {
    name: "position bias is estimated",
    note: "The router has to estimate one more number, which may cost a little; the interval contains 0.",
    on: { options: { position: true } },
    off: { options: { position: false } },
    helps: {
      where: "the first answer gets 3 logits more",
      scenario: { settings: { ...LEARNING, voters: voters({ position: 3 }) } },
      ...regret,
    },
    elsewhere: { where: "no bias", scenario: learning, ...regret },
  },
  {
    name: "votes are weighted by voter",
    note: "A voter is judged by what the router knows, which is little for a long time without told scores.",
    on: { router: { weighVoters: true } },
    off: {},
    ...LIARS,
  },
  {
    name: "surprising votes have a limited effect",
    note: "Only a trend in both directions; it stays on, because no single vote should have a large effect.",
    on: {},
    off: { options: { robust: 0 } },
    ...LIARS,
  },
];

/** Compares each addition on and off over the same runs. Writes docs/beyond.md. */
export async function beyond(): Promise<BenchResult> {
  const [dataset] = await openDatasets();
  const full = await openFullRouterBench();
  const ratios: Record<string, number> = {};
  const rows: string[][] = [];
  const notes: string[] = [];
  for (const { name, on, off, helps, elsewhere, note } of EXPERIMENTS) {
    const run = (trial: Trial) => compare(trial.full ? full : dataset!, trial, on, off);
    const gain = run(helps);
    const loss = run(elsewhere);
    ratios[`${name}: on / off where it should help`] = gain.on / gain.off;
    ratios[`${name}: on / off elsewhere`] = loss.on / loss.off;
    const helped = excludesZero(gain.difference) && gain.difference.mean > 0;
    const harmless = loss.on <= loss.off * (1 + TOLERANCE);
    rows.push(
      [name, helps.where, helps.unit, ...figures(gain), helped ? "yes" : "no"],
      [
        "",
        elsewhere.where,
        elsewhere.unit,
        ...figures(loss),
        harmless ? "within 3%" : "costs more than 3%",
      ],
    );
    if (note && !(helped && harmless)) notes.push(`- **${name}:** ${note}`);
    process.stderr.write(`${name}\n`);
  }
  const table: Table = {
    title: "Additions to the paper, on and off",
    columns: ["addition", "where", "measure", "off", "on", "gain [95%]", "verdict"].map(
      (title) => ({
        key: title,
        title,
        kind: "text",
      }),
    ),
    rows,
  };
  await writeFile(resolve(DOCS, "beyond.md"), document(await publish("beyond", table), notes));
  return { ratios, figures: {} };
}

interface Comparison {
  readonly on: number;
  readonly off: number;
  /** off - on per run; positive is a gain. */
  readonly difference: ReturnType<typeof pairedDifference>;
}

function compare(dataset: BenchDataset, trial: Trial, on: Variant, off: Variant): Comparison {
  const { scenario, measure } = trial;
  const runs = (variant: Variant) =>
    Array.from({ length: RUNS }, (_, run) => measure(playEpisode(dataset, scenario, variant, run)));
  const a = runs(trial.on ?? on);
  const b = runs(off);
  return { on: mean(a), off: mean(b), difference: pairedDifference(b, a) };
}

function figures({ on, off, difference: { mean: gain, lo, hi } }: Comparison): string[] {
  const show = (value: number) => value.toFixed(Math.abs(value) < 10 ? 2 : 1);
  return [show(off), show(on), `${show(gain)} [${show(lo)}, ${show(hi)}]`];
}

function voters(changes: Partial<Voters>): Voters {
  return { ...SETTINGS.voters, ...changes };
}

function document(table: string, notes: readonly string[]): string {
  return `${PREFACE}\n${table}\nExplanations for the rows with "no" or "costs more than 3%":\n\n${notes.join("\n")}\n`;
}

const PREFACE = `# Additions to the paper, measured

Each addition is compared on and off in the same ${RUNS} environments, with the same voters: RouterBench queries, MiniLM
embeddings, T = ${ROUNDS}. Unless stated otherwise, the told scores (quality scores that the router gets before the first
vote) are exact and the vote scale is 3. There are no told scores, and the vote scale is 10, in both rows of drift, position
bias, voters and surprising votes, and in the first rows of ties, both_bad, rankings and ratings; there the router learns
only from votes. The told scores are permuted, and the vote scale is 10, in the first rows of "adding a model" and of
"pending duels". Smaller is better; the gain is off minus on per run, with its 95% interval. The RouterBench
queries are a stand-in: their MMLU, GSM8K, HellaSwag and MBPP texts differ from RouterBench's ([lab.md](lab.md#public-data)).

Each addition has two rows. In the first it should help ("yes" if the interval excludes 0). In the second it has little
to gain and must not cost more than 3%, judged by the mean. All scenarios and options were chosen with other seeds on
the same data. \`npm run bench -- beyond\` made this page; the table is also available as
[CSV](tables/beyond.csv) and [LaTeX](tables/beyond.tex).
`;
