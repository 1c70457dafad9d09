import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Table } from "../src/lab/report/table.ts";
import { SETTINGS, type Settings, type Voters } from "../src/lab/simulate/settings.ts";
import { excludesZero, mean, pairedDifference } from "../src/lab/statistics.ts";
import { type Episode, playEpisode, ROUNDS, type Scenario, type Variant } from "./episode.ts";
import type { BenchResult } from "./main.ts";
import { DOCS, publish } from "./publish.ts";
import { openFullRouterbench, openWorlds, type World } from "./worlds.ts";

const RUNS = 40;
/** What an addition may cost where it cannot help. */
const TOLERANCE = 0.03;

interface Experiment {
  readonly name: string;
  readonly on: Variant;
  readonly off: Variant;
  /** Where it should help, and by which measure (smaller is better). */
  readonly helps: Trial;
  readonly elsewhere: Trial;
  /** Why it may help nowhere, or what it costs elsewhere. */
  readonly note?: string;
}

interface Trial extends Measured {
  readonly where: string;
  readonly scenario: Scenario;
  /** With all eleven models of the table, of which the last can join later. */
  readonly full?: boolean;
  /** In place of the experiment's. */
  readonly on?: Variant;
}

interface Measured {
  readonly measure: (episode: Episode) => number;
  readonly unit: string;
}

const regret: Measured = { measure: (episode) => episode.regret, unit: "regret" };
const late: Measured = { measure: (episode) => episode.late, unit: "regret, second half" };
/** Nothing is told, so that votes are all there is to learn from. */
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

/** Every addition, simplest first. */
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
    note: "In Davidson's model a tie says nothing where two models are equal, and is rare where they are not.",
  },
  {
    name: "both_bad is a dislike of both",
    note: "A trend only: a dislike of both speaks of their level, and routing needs differences.",
    on: {},
    off: { options: { bothBad: 0 } },
    helps: {
      where: "both_bad when both are below 0.6",
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
    name: "thumbs beside votes",
    on: {},
    off: { options: { pointwise: 0 } },
    helps: {
      where: "one round in ten a duel, the other answers get a thumb",
      scenario: { duelShare: 0.1, thumbs: { share: 1, slope: 10 }, settings: LEARNING },
      ...regret,
    },
    elsewhere: {
      where: "thumbs are coin flips",
      scenario: { thumbs: { share: 1, slope: 0 } },
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
    note: "Costs differ a hundredfold between queries: a dear one, before anything is saved, raises the price for a while.",
    on: { router: { budget: BUDGET } },
    off: {},
    helps: {
      where: `budget ${BUDGET} of the dearest model's cost`,
      scenario: plain,
      measure: ({ cost }) => Math.max(0, cost / BUDGET - 1),
      unit: "spent above budget",
    },
    elsewhere: {
      where: "a budget five times what is spent",
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
      unit: "second answers a query",
    },
    elsewhere: {
      where: "told scores noisy: much to learn",
      scenario: { settings: { truthSd: 0.1 } },
      ...regret,
    },
  },
  {
    name: "drift",
    note: "What is forgotten must be learnt again, so it is off unless asked for.",
    on: { options: { drift: 0.999 } },
    off: {},
    helps: {
      where: "utilities change hands half-way",
      scenario: { switch: true, settings: LEARNING },
      ...late,
    },
    elsewhere: { where: "nothing changes", scenario: learning, ...regret },
  },
  {
    name: "a new model keeps what is known",
    on: { keep: true },
    off: {},
    helps: {
      where: "gpt-4, of which nothing is told, joins half-way",
      scenario: { joins: true, settings: { told: { kind: "permuted" }, voteScale: 10 } },
      full: true,
      ...late,
    },
    elsewhere: { where: "claude-v2 joins, a poor model", scenario: { joins: true }, ...late },
  },
  {
    name: "a newcomer meets the best",
    on: { keep: true, options: { onboarding: 0.2 } },
    off: { keep: true, options: { onboarding: 0 } },
    note: "Its twelve duels are paid for whether it is good or poor.",
    helps: {
      where: "gpt-4, of which nothing is told, joins half-way",
      scenario: { joins: true },
      full: true,
      ...late,
    },
    elsewhere: { where: "claude-v2 joins, a poor model", scenario: { joins: true }, ...late },
  },
  {
    name: "pending duels narrow a copy",
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
    name: "position bias is fitted",
    note: "One number more to find out; the interval holds 0.",
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
    name: "voters are weighed",
    note: "A voter is judged by what the router knows, and where nothing is told that is little for long.",
    on: { router: { weighVoters: true } },
    off: {},
    ...LIARS,
  },
  {
    name: "surprising votes are bounded",
    note: "No more than a trend either way; it stays on, since no single vote should count for much.",
    on: {},
    off: { options: { robust: 0 } },
    ...LIARS,
  },
];

/** Each addition on and off over the same runs. Writes docs/beyond.md. */
export async function beyond(): Promise<BenchResult> {
  const [world] = await openWorlds();
  const full = await openFullRouterbench();
  const ratios: Record<string, number> = {};
  const rows: string[][] = [];
  const notes: string[] = [];
  for (const { name, on, off, helps, elsewhere, note } of EXPERIMENTS) {
    const tryOut = (trial: Trial) => compare(trial.full ? full : world!, trial, on, off);
    const gain = tryOut(helps);
    const loss = tryOut(elsewhere);
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
        harmless ? "within 3%" : "loses more",
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
  /** off - on, run by run: above 0 is a gain. */
  readonly difference: ReturnType<typeof pairedDifference>;
}

function compare(world: World, trial: Trial, on: Variant, off: Variant): Comparison {
  const { scenario, measure } = trial;
  const runs = (variant: Variant) =>
    Array.from({ length: RUNS }, (_, run) => measure(playEpisode(world, scenario, variant, run)));
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
  return `${PREFACE}\n${table}\nWhere a row says no, or that it loses more:\n\n${notes.join("\n")}\n`;
}

const PREFACE = `# Beyond the paper, measured

Each addition on and off, over the same ${RUNS} worlds and voters: RouterBench queries, MiniLM
vectors, T = ${ROUNDS}. Told scores are exact and the vote scale is 3 where nothing else is said; where
only votes or voters are named, nothing is told and the vote scale is 10, so that votes are all there is to
learn from. Smaller is better; the gain is off minus on, run by run, with its 95% interval. Each addition has two
rows: where it should help (yes if the interval excludes 0), and where there is little for it to gain and it
must not cost more than 3% (judged by the mean; the interval shows how sure that is). All
scenarios and options were chosen on other seeds of the same data. Made by \`npm run bench -- beyond\`; also as
[CSV](tables/beyond.csv) and [LaTeX](tables/beyond.tex).
`;
