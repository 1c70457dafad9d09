import { SETTINGS, type Settings, type Voters } from "../src/lab/simulate/settings.ts";
import type { Episode, Scenario, Variant } from "./episode.ts";
import type { SimulatedJudge, SimulatedSignal } from "./simulated-kinds.ts";

/** Runs of additions whose effect is small. */
export const MANY_RUNS = 200;

/** An addition and the two worlds that it is measured in. */
interface Experiment {
  readonly name: string;
  readonly on: Variant;
  readonly off: Variant;
  /** World in which the addition should help. */
  readonly helps: Trial;
  /** World in which the addition has little to gain and must not do harm. */
  readonly elsewhere: Trial;
  readonly runs?: number;
  /** Explanation for an addition that does not help, or that costs too much elsewhere. */
  readonly note?: string;
}

export interface Trial extends Measure {
  readonly where: string;
  readonly scenario: Scenario;
  /** Use this data set instead of RouterBench. */
  readonly data?: "llmrouter";
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

/** People vote on one duel in ten, and a judge on every duel. */
function judged(judge: Partial<SimulatedJudge>): Pick<Trial, "data" | "scenario"> {
  const fair = { scale: 1, first: 0, length: 0, own: 0, taste: 0 };
  const settings: Partial<Settings> = { told: { kind: "none" } };
  return { data: "llmrouter", scenario: { settings, people: 0.1, judge: { ...fair, ...judge } } };
}

/** Half of the categories are steps of agents, on which people cannot vote. */
function stepsJudged(judge: Partial<SimulatedJudge>): Pick<Trial, "data" | "scenario"> {
  const { data, scenario } = judged(judge);
  return { data: data!, scenario: { ...scenario, people: 0.5, agents: 0.5 } };
}

/** One round in ten is a duel that a person votes on; the others have one answer. */
const RARE_DUELS: Scenario = { settings: { told: { kind: "none" } }, duelShare: 0.1 };

function signalled(signal: SimulatedSignal): Pick<Trial, "data" | "scenario"> {
  return { data: "llmrouter", scenario: { ...RARE_DUELS, signal } };
}

function sessions(metric: NonNullable<Scenario["sessions"]>): Pick<Trial, "data" | "scenario"> {
  return { data: "llmrouter", scenario: { ...RARE_DUELS, sessions: metric } };
}

/** All additions, simplest first. */
export const EXPERIMENTS: readonly Experiment[] = [
  {
    name: "ties count half",
    runs: MANY_RUNS,
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
    note: "In Davidson's model, a tie between equal models carries no information, and ties between unequal models are rare ([decision 50](decisions/0050-options-without-effect.md)).",
  },
  {
    name: "both_bad rates both answers as bad",
    runs: MANY_RUNS,
    note: "Such a vote is about the level of both models, but routing needs their difference.",
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
    note: "The router must learn again what it forgets, so this is off by default.",
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
    note: "The twelve duels of a new model cost the same whether the model is good or weak.",
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
    note: "In these 40 runs the gain is not significant; in the earlier measurement it was (12.9 [4.06, 21.8]).",
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
    runs: MANY_RUNS,
    note: "The router judges voters by what it knows, and without told scores it knows little for a long time. Off by default ([decision 50](decisions/0050-options-without-effect.md)).",
    on: { router: { weighVoters: true } },
    off: {},
    ...LIARS,
  },
  {
    name: "a judge is a voter of its own kind",
    runs: MANY_RUNS,
    note: "The votes of a judge count less until comparisons with people show that it votes like them.",
    on: {},
    off: { judged: "person" },
    helps: {
      where:
        "a judge favours the first answer, long answers and its family; people vote on one duel in ten",
      ...judged({ scale: 0.7, first: 0.5, length: 0.8, own: 1, taste: 0.05 }),
      ...regret,
    },
    elsewhere: {
      where: "a judge that votes like people; people vote on one duel in ten",
      ...judged({}),
      ...regret,
    },
  },
  {
    name: "implicit signals",
    runs: MANY_RUNS,
    note: "Only people's votes can show that a signal misleads. Off by default.",
    on: { signals: true },
    off: {},
    helps: {
      where:
        "one round in ten is a duel; a signal follows the quality of a third of the other answers",
      ...signalled({ share: 0.3, slope: 5, taste: 0 }),
      ...regret,
    },
    elsewhere: {
      where: "the same, but the signal follows something else",
      ...signalled({ share: 0.3, slope: 0, taste: 1 }),
      ...regret,
    },
  },
  {
    name: "steps of agents are judged",
    runs: MANY_RUNS,
    note: "No person votes on steps of agents, so nothing corrects a judge that is wrong there. Off by default.",
    on: {},
    off: { judged: "ignored" },
    helps: {
      where: "half of the categories are steps of agents, which only a judge compares",
      ...stepsJudged({ scale: 0.7, first: 0.5, length: 0.3, taste: 0.03 }),
      ...regret,
    },
    elsewhere: {
      where: "the same, but the judge goes by length, family and position alone",
      ...stepsJudged({ scale: 0, first: 0.5, length: 1, own: 1 }),
      ...regret,
    },
  },
  {
    name: "a metric of sessions is credited to their answers",
    runs: MANY_RUNS,
    note: "A metric that says nothing still has to be found out.",
    on: { signals: true },
    off: {},
    helps: {
      where: "one round in ten is a duel; the success of four rounds follows their quality",
      ...sessions({ rounds: 4, slope: 10 }),
      ...regret,
    },
    elsewhere: {
      where: "the same, but the success is random",
      ...sessions({ rounds: 4, slope: 0 }),
      ...regret,
    },
  },
  {
    name: "surprising votes have a limited effect",
    runs: MANY_RUNS,
    note: "It has no measurable effect in either row. It stays on, because no single vote should have a large effect ([decision 50](decisions/0050-options-without-effect.md)).",
    on: {},
    off: { options: { robust: 0 } },
    ...LIARS,
  },
];

function voters(changes: Partial<Voters>): Voters {
  return { ...SETTINGS.voters, ...changes };
}
