import { excludesZero, mean, pairedDifference } from "../src/core/statistics.ts";
import type { Table } from "../src/lab/report/table.ts";
import { EXPERIMENTS, MANY_RUNS, type Trial } from "./additions.ts";
import type { BenchResult } from "./bench.ts";
import { type BenchDataset, openDatasets, openFullRouterBench } from "./datasets.ts";
import { playEpisode, ROUNDS, type Variant } from "./episode.ts";
import { publish, writeDoc } from "./publish.ts";

const RUNS = 40;
/** The loss that is accepted where an addition cannot help. */
const TOLERANCE = 0.03;

/** Compares each addition on and off over the same runs. Writes docs/beyond.md. */
export async function beyond(): Promise<BenchResult> {
  const datasets = await openDatasets();
  const dataset = datasets.find(({ name }) => name === "routerbench")!;
  const other = datasets.find(({ name }) => name === "llmrouter")!;
  const full = await openFullRouterBench();
  const ratios: Record<string, number> = {};
  const rows: string[][] = [];
  const notes: string[] = [];
  for (const { name, on, off, helps, elsewhere, note, runs = RUNS } of EXPERIMENTS) {
    const run = (trial: Trial) =>
      compare(trial.full ? full : trial.data ? other : dataset, trial, on, off, runs);
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
  await writeDoc("beyond.md", document(await publish("beyond", table), notes));
  return { ratios, figures: {} };
}

interface Comparison {
  readonly on: number;
  readonly off: number;
  /** off - on per run; positive is a gain. */
  readonly difference: ReturnType<typeof pairedDifference>;
}

function compare(
  dataset: BenchDataset,
  trial: Trial,
  on: Variant,
  off: Variant,
  count: number,
): Comparison {
  const { scenario, measure } = trial;
  const runs = (variant: Variant) =>
    Array.from({ length: count }, (_, run) =>
      measure(playEpisode(dataset, scenario, variant, run)),
    );
  const a = runs(trial.on ?? on);
  const b = runs(off);
  return { on: mean(a), off: mean(b), difference: pairedDifference(b, a) };
}

function figures({ on, off, difference: { mean: gain, lo, hi } }: Comparison): string[] {
  const show = (value: number) => value.toFixed(Math.abs(value) < 10 ? 2 : 1);
  return [show(off), show(on), `${show(gain)} [${show(lo)}, ${show(hi)}]`];
}

function document(table: string, notes: readonly string[]): string {
  return `${PREFACE}\n${table}\nExplanations for the rows with "no" or "costs more than 3%":\n\n${notes.join("\n")}\n`;
}

const PREFACE = `# Additions to the paper, measured

Each addition is compared on and off in the same ${RUNS} environments, with the same voters: RouterBench queries, MiniLM
embeddings, T = ${ROUNDS}. Smaller is better; the gain is off minus on per run, with its 95% interval.

- **Two rows.** In the first row of an addition it should help ("yes" if the interval excludes 0). In the second row it has little to
  gain, or is misled, and must not cost more than 3%, judged by the mean.
- **Environments.** The rows about ties, both_bad, voters, judges, signals, steps of agents, sessions and surprising votes have
  ${MANY_RUNS} environments, because their effects are small.
- **Data.** Judges, signals, steps of agents and sessions are measured on llmrouter-9models, which has outcomes for each query. Their
  options were chosen on RouterBench, except the weight of signals and metrics, which was chosen on both. The RouterBench queries are a
  stand-in: their MMLU, GSM8K, HellaSwag and MBPP texts differ from RouterBench's ([lab.md](lab.md#public-data)).
- **Told scores** are quality scores that the router gets before the first vote. Unless stated otherwise, they are exact and the vote
  scale is 3.
- **No told scores, vote scale 10:** both rows of drift, position bias, voters and surprising votes, and the first rows of ties,
  both_bad, rankings and ratings. There the router learns only from votes. On llmrouter-9models there are no told scores either.
- **Permuted told scores, vote scale 10:** the first rows of "adding a model" and of "pending duels".

All scenarios and options were chosen with other seeds on the same data. \`npm run bench -- beyond\` made this page; the table is also
available as [CSV](tables/beyond.csv) and [LaTeX](tables/beyond.tex).

Shadow evaluation (\`mode: observe\` with a judge) has no rows: it changes no answer. The router learns from its comparisons as from every other
vote of a judge, whose rows are below; \`gateway/feedback/shadow.test.ts\` checks its win rate against a known truth.
`;
