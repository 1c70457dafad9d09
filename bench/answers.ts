import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Random } from "../src/core/random/random.ts";
import { type Interval, mean, meanInterval, percentile } from "../src/core/statistics.ts";
import { readTexts } from "../src/lab/data/texts.ts";
import {
  type ChartPoint,
  chartPicture,
  type LineStyle,
  type Series,
} from "../src/lab/report/chart.ts";
import { GREY, INK, svgFile } from "../src/lab/report/svg.ts";
import type { Table } from "../src/lab/report/table.ts";
import {
  type AnswerRun,
  answerRuns,
  LABELS,
  type Measured,
  type Tariff,
  VOTES,
} from "./answer-runs.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { dataFile, openDatasets } from "./datasets.ts";
import { STATIC_ROUTERS } from "./policy-contenders.ts";
import { DOCS, publish, writeDoc } from "./publish.ts";

const RUNS = 20;
/** Numbers of votes and of labels that the pictures show beside each other. */
const SHOWN_VOTES = [0, 100, 400];
const SHOWN_LABELS = 20;

/**
 * Measures the quality and the cost of single answers by labels and votes, for joust, the static routers and
 * each model alone. Writes docs/answers.md with its pictures and tables. `--rounds` is the number of runs; `--minutes`
 * ends the measurement early, and the next one continues it.
 */
export async function answers(
  _names: readonly string[],
  { rounds = RUNS, minutes = Infinity }: BenchFlags,
): Promise<BenchResult> {
  const [, llmrouter] = await openDatasets();
  const end = performance.now() + minutes * 60_000;
  const all = answerRuns(llmrouter!, await readTariff(), rounds, end);
  const complete = [...new Set(all.map(({ run }) => run))].filter((run) =>
    LABELS.every((labels) => all.some((one) => one.run === run && one.labels === labels)),
  );
  // The measurement ended before a run was complete.
  if (complete.length === 0) return { ratios: {}, figures: { runs: 0 } };
  const runs = all.filter(({ run }) => complete.includes(run));
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = { runs: complete.length };
  const needed = votesNeeded(runs);
  const costs = costTable(runs, ratios);
  const quality = qualityTable(runs);
  await mkdir(resolve(DOCS, "images"), { recursive: true });
  const title = `Quality of single answers, mean of ${complete.length} runs with 95% bands`;
  const pictures = [byVotes(runs), byLabels(runs)];
  await writeFile(resolve(DOCS, "images", "answers.svg"), svgFile(title, pictures, 1));
  const page = [
    prefaceOf(complete.length, needed, votesAsked(runs)),
    await publish("answers-quality", quality),
    COSTS,
    await publish("answers-cost", costs),
  ];
  await writeDoc("answers.md", page.join("\n"));
  return { ratios, figures };
}

/** Token counts are not part of the data: four characters are taken as a token, and an answer as 200 tokens of any model. */
const CHARACTERS_PER_TOKEN = 4;
const ANSWER_TOKENS = 200;

async function readTariff(): Promise<Tariff> {
  const folder = dataFile("llmrouter-9models");
  const list = JSON.parse(
    readFileSync(resolve(folder, "llm_candidates_with_prices.json"), "utf8"),
  ) as Record<string, { readonly input_price: number }>;
  const prices = Object.fromEntries(
    Object.entries(list).map(([name, { input_price }]) => [name, input_price / 1e6]),
  );
  const tokens = new Map<string, number>();
  for await (const { id, text } of readTexts(resolve(folder, "llmrouter_9models.jsonl.gz"))) {
    tokens.set(id, text.length / CHARACTERS_PER_TOKEN + ANSWER_TOKENS);
  }
  return { prices, tokens };
}

function bestFixed({ models }: AnswerRun) {
  return Object.values(models).reduce((a, b) => (b.quality > a.quality ? b : a));
}

function withLabels(runs: readonly AnswerRun[], labels: number): AnswerRun[] {
  return runs.filter((run) => run.labels === labels);
}

/** Quality of a router without a weight for cost, over the runs with this number of labels. */
function qualityOf(runs: readonly AnswerRun[], labels: number, router: string): Interval {
  const values = withLabels(runs, labels).map(({ routers }) => routers[router]!.quality[0]!);
  return meanInterval(values);
}

function qualityTable(runs: readonly AnswerRun[]): Table {
  const names = [
    ...VOTES.map((votes) => `joust ${votes}`),
    ...STATIC_ROUTERS.map(({ name }) => name),
  ];
  const cell = (name: string, labels: number) =>
    withLabels(runs, labels)[0]!.routers[name] ? qualityOf(runs, labels, name) : "";
  const fixed = LABELS.map((labels) =>
    meanInterval(withLabels(runs, labels).map((run) => bestFixed(run).quality)),
  );
  return {
    title: "Mean score of single answers, with 95% intervals",
    columns: [
      { key: "router", title: "router", kind: "text" },
      ...LABELS.map((labels) => ({
        key: `labels_${labels}`,
        title: `${labels} labels per task`,
        kind: "interval" as const,
      })),
    ],
    rows: [
      ...names.map((name) => [titleOf(name), ...LABELS.map((labels) => cell(name, labels))]),
      ["best fixed model", ...fixed],
    ],
  };
}

function titleOf(name: string): string {
  return name.replace(/^joust (\d+)$/, (_, votes) => `joust after ${votes} votes`);
}

/** Cost of a router that is as good as the best fixed model, divided by the cost of that model. */
function costTable(runs: readonly AnswerRun[], ratios: Record<string, number>): Table {
  const names = [
    ...SHOWN_VOTES.map((votes) => `joust ${votes}`),
    ...STATIC_ROUTERS.map(({ name }) => name),
  ];
  return {
    title: "Cost at the quality of the best fixed model, as a share of the cost of that model",
    columns: [
      { key: "router", title: "router", kind: "text" },
      ...LABELS.map((labels) => ({
        key: `labels_${labels}`,
        title: `${labels} labels per task`,
        kind: "text" as const,
      })),
    ],
    rows: names.map((name) => [
      titleOf(name),
      ...LABELS.map((labels) => {
        const own = withLabels(runs, labels);
        if (!own[0]!.routers[name]) return "";
        const share = costShare(own, name);
        if (share === undefined) return "not reached";
        ratios[`${titleOf(name)}, ${labels} labels: cost / cost of the best fixed model`] = share;
        const resampled = bootstrap(own, (sample) => costShare(sample, name) ?? Infinity);
        const [lo, hi] = [percentile(resampled, 2.5), percentile(resampled, 97.5)];
        return `${share.toFixed(2)} [${lo.toFixed(2)}, ${Number.isFinite(hi) ? hi.toFixed(2) : "not reached"}]`;
      }),
    ]),
  };
}

/** Undefined if the router is worse than the best fixed model even without a weight for cost. */
function costShare(runs: readonly AnswerRun[], router: string): number | undefined {
  const { quality, cost } = meanOf(runs.map(({ routers }) => routers[router]!));
  const target = mean(runs.map((run) => bestFixed(run).quality));
  const unit = mean(runs.map((run) => bestFixed(run).cost));
  const last = quality.findLastIndex((value) => value >= target);
  if (last < 0) return undefined;
  if (last === quality.length - 1) return cost[last]! / unit;
  const share = (quality[last]! - target) / (quality[last]! - quality[last + 1]!);
  return (cost[last]! + share * (cost[last + 1]! - cost[last]!)) / unit;
}

function meanOf(all: readonly Measured[]): Measured {
  const at = (rows: readonly (readonly number[])[]) =>
    rows[0]!.map((_, w) => mean(rows.map((row) => row[w]!)));
  return { quality: at(all.map((one) => one.quality)), cost: at(all.map((one) => one.cost)) };
}

const RESAMPLES = 1000;

function bootstrap(
  runs: readonly AnswerRun[],
  statistic: (sample: readonly AnswerRun[]) => number,
): number[] {
  const random = Random.seeded(1);
  return Array.from({ length: RESAMPLES }, () =>
    statistic(runs.map(() => runs[random.integer(runs.length)]!)),
  );
}

/** Votes until the mean quality with nothing told is 95% of that of the best fixed model; Infinity if never. */
function votesUntil(runs: readonly AnswerRun[]): number {
  const target = 0.95 * mean(runs.map((run) => bestFixed(run).quality));
  const curve = VOTES.map((votes) =>
    mean(runs.map(({ routers }) => routers[`joust ${votes}`]!.quality[0]!)),
  );
  const at = curve.findIndex((value) => value >= target);
  if (at <= 0) return at === 0 ? 0 : Infinity;
  const share = (target - curve[at - 1]!) / (curve[at]! - curve[at - 1]!);
  return VOTES[at - 1]! + share * (VOTES[at]! - VOTES[at - 1]!);
}

function votesNeeded(runs: readonly AnswerRun[]): string {
  const own = withLabels(runs, 0);
  const resampled = bootstrap(own, votesUntil);
  const text = (votes: number) =>
    Number.isFinite(votes) ? votes.toFixed(0) : `more than ${VOTES.at(-1)}`;
  return `${text(votesUntil(own))} [${text(percentile(resampled, 2.5))}, ${text(percentile(resampled, 97.5))}]`;
}

function votesAsked(runs: readonly AnswerRun[]): string {
  const counts = [0, 1, 2].map((i) => mean(withLabels(runs, 0).map(({ votes }) => votes[i]!)));
  return counts.map((count) => count.toFixed(0)).join(", ");
}

const LINE: LineStyle = { color: 1, dash: "none", width: 2.2, band: true };
const FIXED: LineStyle = { color: INK, dash: "1.5 3", width: 1.9, band: false };
const DASHES = ["9 3", "4 3", "10 3 2 3", "14 3", "6 2 6 6"];
const COLORS = [3, 0, 2, 1];

function byVotes(runs: readonly AnswerRun[]) {
  const width = VOTES.at(-1)!;
  const lines = LABELS.map((labels, i): Series => {
    const points = VOTES.map((votes) => pointOf(votes, qualityOf(runs, labels, `joust ${votes}`)));
    const label = labels === 0 ? "joust, nothing told" : `joust, ${labels} labels per task`;
    return { name: label, label, style: { ...LINE, color: COLORS[i]! }, points };
  });
  const flat = STATIC_ROUTERS.map(({ name }, i): Series => {
    const value = qualityOf(runs, SHOWN_LABELS, name);
    const points = [pointOf(0, value), pointOf(width, value)];
    const style = { color: GREY, dash: DASHES[i]!, width: 1.4, band: false };
    return { name, label: `${name}, ${SHOWN_LABELS} labels`, style, points, fontSize: 10 };
  });
  return chart("By votes", "Votes", width, [...flat, fixedLine(runs, width), ...lines]);
}

function byLabels(runs: readonly AnswerRun[]) {
  const width = LABELS.at(-1)!;
  const lines = SHOWN_VOTES.map((votes, i): Series => {
    const points = LABELS.map((labels) =>
      pointOf(labels, qualityOf(runs, labels, `joust ${votes}`)),
    );
    const label = `joust after ${votes} votes`;
    return { name: label, label, style: { ...LINE, color: COLORS[i + 1]! }, points };
  });
  const others = STATIC_ROUTERS.map(({ name }, i): Series => {
    const told = LABELS.filter((labels) => labels > 0);
    const points = told.map((labels) => pointOf(labels, qualityOf(runs, labels, name)));
    const style = { color: GREY, dash: DASHES[i]!, width: 1.4, band: false };
    return { name, label: name, style, points, fontSize: 10 };
  });
  const title = "By evaluated queries";
  const axis = "Evaluated queries (labels) per task; there are 14 tasks";
  return chart(title, axis, width, [...others, fixedLine(runs, width), ...lines]);
}

function fixedLine(runs: readonly AnswerRun[], width: number): Series {
  const value = meanInterval(runs.map((run) => bestFixed(run).quality));
  const points = [pointOf(0, value), pointOf(width, value)];
  return { name: "best fixed model", label: "best fixed model", style: FIXED, points };
}

function pointOf(x: number, { mean: y, lo, hi }: Interval): ChartPoint {
  return { x, y, lo, hi };
}

function chart(title: string, axis: string, to: number, series: readonly Series[]) {
  const values = series.flatMap(({ points }) => points.flatMap(({ y, lo, hi }) => [y, lo, hi]));
  const known = values.filter(Number.isFinite);
  return chartPicture({
    title,
    series,
    x: { label: axis, to },
    y: {
      label: "Mean score of a single answer",
      from: Math.floor(50 * Math.min(...known)) / 50,
      to: Math.ceil(50 * Math.max(...known)) / 50,
    },
    width: 520,
    height: 300,
  });
}

function prefaceOf(runs: number, needed: string, asked: string): string {
  return `# Quality of single answers

This page shows how good the answers of a router are after a number of evaluated queries (labels) and of votes. The data is llmrouter-9models with
MiniLM embeddings and the vote scale 3; the numbers are means of ${runs} runs. joust answers 3,000 queries and every duel that it asks for gets a vote.
Then it and the static routers, which are trained on the same labels, choose one model for each of 600 other queries, and the score of that
answer counts. The best fixed model is the one with the highest mean score on these queries, which is known only in hindsight.
\`npm run bench -- answers\` made this page.

![Quality of single answers by votes and by labels](images/answers.svg)

With nothing told, joust reaches 95% of the quality of the best fixed model after ${needed} votes (95% interval of the mean curve by bootstrap over runs). It
asks for ${asked} votes in the first 1,000, 2,000 and 3,000 requests. In a run that asks for fewer votes than a row states, the row has the quality after 3,000 requests.
`;
}

const COSTS = `## Cost at equal quality

A router that may choose cheaper models where they are as good needs less money for the same quality. Each router chooses the model with the largest
estimated score minus a weight times the cost of the answer, and the table has the cost at which its mean score equals that of the best fixed
model, interpolated between weights. 95% intervals by bootstrap over runs. The weight is chosen on the queries that are measured, for all routers alike. Costs are
the listed prices of the data times the number of tokens. The data has no token counts: four characters of a prompt are taken as one token, and every answer
as 200 tokens. Models that write longer answers than others would cost more than is stated here.
`;
