/** How every curve came to be, in words, read off the jobs that made it. */
import type { Table } from "../report/table.ts";
import type { Bench } from "./bench.ts";
import { fullName, worldOf } from "./curve-name.ts";
import type { Curve } from "./experiment.ts";
import { BLIND } from "./scene.ts";
import type {
  DataSpec,
  FitSpec,
  LinearSpec,
  PromptSpec,
  RunSpec,
  StreamSpec,
  ToldSpec,
} from "./work/specs.ts";

interface HowOptions {
  /** What the data is, where it is not the paper's. */
  readonly standIn?: string | undefined;
  /** T, once it is known. */
  roundsOf?(curve: Curve): number;
}

/** A table for the curves that were run on the same queries, which its title tells of; one row a curve. */
export function howTables(bench: Bench, experiment: string, options: HowOptions = {}): Table[] {
  const own = bench.curves.filter((curve) => madeBy(experiment, curve));
  const rows = new Map<string, { readonly made: Made; readonly scales: number[] }>();
  for (const curve of own) {
    const made = madeOf(bench, curve, options);
    const key = [made.queries, ...made.cells].join("|");
    const row = rows.get(key) ?? { made, scales: [] };
    if (!row.scales.includes(curve.voteScale)) row.scales.push(curve.voteScale);
    rows.set(key, row);
  }
  const byQueries = new Map<string, string[][]>();
  for (const { made, scales } of rows.values()) {
    const title = `${made.queries}. ${votesText(made, scales)}.`;
    byQueries.set(title, [...(byQueries.get(title) ?? []), [...made.cells]]);
  }
  return [...byQueries].map(([title, cells]) => ({ title, columns: COLUMNS, rows: cells }));
}

const COLUMNS = ["Curve", "World", "Query vectors", "Model embeddings", "Policy"].map(
  (title) => ({ key: title.toLowerCase(), title, kind: "text" }) as const,
);

/** The linear worlds are planned with MMLU. */
function madeBy(experiment: string, curve: Curve): boolean {
  return curve.experiment === experiment || (experiment === "mmlu" && curve.encoder === "");
}

interface Made {
  /** What came, and what is true of it. */
  readonly queries: string;
  /** As in COLUMNS. */
  readonly cells: readonly string[];
  /** Votes are verdicts that are there. */
  readonly judged: boolean;
}

function votesText({ judged }: Made, scales: readonly number[]): string {
  const all = scales.join(", ");
  return judged
    ? `Votes are the stored verdicts (vote scale ${all} for pairs without one)`
    : `Vote scale ${all}`;
}

function madeOf(bench: Bench, curve: Curve, options: HowOptions): Made {
  const { plan } = bench;
  const job = plan.find(curve.runs[0]!);
  const head = [fullName(curve), worldOf(curve)];
  if (job.kind === "linear") {
    const { policy, rounds, models, dimension } = job.spec as LinearSpec;
    return {
      queries: `${rounds} vectors and ${models} models on the sphere of R^${dimension}, drawn anew for each run`,
      cells: [...head, ...seenBy(policy, "as drawn", "as drawn"), policyText(policy)],
      judged: false,
    };
  }
  const { told, vectors, policy, draw } = job.spec as RunSpec;
  const vector = vectorsText(plan.find(vectors[0]!), curve.encoder);
  return {
    judged: draw.data.ambiguous !== undefined,
    queries: queriesText(job.spec as RunSpec, bench, curve, options),
    cells: [...head, ...seenBy(policy, vector, modelsText(told), told), policyText(policy)],
  };
}

/** Query vectors and model embeddings, as far as a policy looks at them. */
function seenBy(
  { kind }: RunSpec["policy"],
  vectors: string,
  models: string,
  told?: ToldSpec,
): [string, string] {
  if (BLIND.includes(kind)) return ["not looked at", "none"];
  if (kind === "fgts-cdb") return [vectors, models];
  if (!told || !TOLD.includes(kind)) return [vectors, "none"];
  return [vectors, `none: category means and told scores${toldOf(told)}`];
}

/** The policies that read the told scores as they are. */
const TOLD = ["zero-feedback", "joust"];

function queriesText(
  { draw, stream, lambda }: RunSpec,
  bench: Bench,
  curve: Curve,
  { standIn, roundsOf }: HowOptions,
): string {
  const { data, offline, change } = draw;
  const files = data.files.map(({ name }) => name);
  const total = bench.offline.get(curve.runs[0]!);
  const all =
    total === undefined ? "" : `, ${data.ambiguous === undefined ? "" : "at most "}${total} in all`;
  return [
    standIn === undefined ? "" : `a stand-in (${standIn})`,
    files.length > 2 ? `${files[0]} and ${files.length - 1} files more` : files.join(" and "),
    data.ambiguous === undefined
      ? ""
      : `the most ambiguous ${Math.round(100 * data.ambiguous)}% dropped`,
    `${offline} offline queries a ${kindOf(data)}${all}`,
    streamText(stream, bench.size.short, roundsOf?.(curve)),
    data.exclude?.length ? `all models but ${data.exclude.join(", ")}` : "",
    `utility: ${utilityText(data, lambda)}`,
    change ? "in the categories called later every model has another one's scores" : "",
  ]
    .filter(Boolean)
    .join("; ");
}

/** What offline queries are drawn for. */
function kindOf({ ambiguous }: DataSpec): string {
  return ambiguous === undefined ? "category" : "best model";
}

function utilityText({ experts, verdicts, scores }: DataSpec, lambda: number): string {
  if (experts !== undefined)
    return "cosine between the means of the expert's topic and the query's";
  if (verdicts !== undefined) return "wins and half of the ties among verdicts drawn from Perf";
  if (!scores) return "wins and half of the ties among the stored verdicts";
  return `Perf${lambda > 0 ? ` less ${lambda} Cost` : ""} of the query's category`;
}

/** A curve that is read after `short` rounds too is no other run there. */
function streamText(
  { rounds, stream }: StreamSpec,
  short: number,
  known: number | undefined,
): string {
  if (rounds === "once") return `every other query once${known ? `, T = ${known}` : ""}`;
  if (stream === "uniform") {
    const part =
      rounds > short ? `, the first ${short} of which are the curve at T = ${short}` : "";
    return `${rounds} rounds${part}, category uniform, query with replacement`;
  }
  if (!Array.isArray(stream)) return `${rounds} rounds, ${stream}`;
  const sections = (stream as readonly Readonly<Record<string, number>>[]).map((section) =>
    Object.entries(section)
      .map(([name, count]) => `${count} ${name}`)
      .join(", "),
  );
  return `sections, shuffled, no query twice: ${sections.join("; then ")}`;
}

function vectorsText(job: { readonly kind: string; readonly spec: unknown }, encoder: string) {
  if (job.kind === "embed") return `${encoder} as it was`;
  const { epochs, categories, draw } = job.spec as FitSpec;
  const each = categories ? `of each of ${categories.join(", ")}` : `a ${kindOf(draw.data)}`;
  return `${encoder} fine-tuned for ${epochs} epochs on the run's offline queries, ${draw.offline} ${each}`;
}

function modelsText(told: ToldSpec): string {
  const { models } = told;
  const of = toldOf(told);
  if (models === "means") return "a_k is the mean of category k's offline queries";
  if ("listing" in models) return `${LISTINGS[models.listing]}, ${exampleText(models)}${of}`;
  const { weighting, tau, lambda, temperature } = models;
  if (weighting === "labels") return "eq. 6: mean of the offline queries that k is best on";
  const ranked = weighting.startsWith("excel") ? `, tau ${tau}` : "";
  const priced = weighting === "perf" ? "" : `, lambda ${lambda}`;
  const sharp = temperature === 1 ? "" : `, temperature ${temperature}`;
  return `${EQUATIONS[weighting]}${ranked}${priced}${sharp}${of}`;
}

/** Where it is not all categories. */
function toldOf({ categories }: ToldSpec): string {
  return categories ? `, told of ${categories.join(", ")} alone` : "";
}

const LISTINGS: Readonly<Record<PromptSpec["listing"], string>> = {
  topic: "prompt of listing 2",
  model: "prompt of listing 3",
  plain: "prompt of listing 3 without Perf and Cost",
};

const EQUATIONS = {
  perf: "eq. 3 with Perf",
  perf_cost: "eq. 3 with Perf less lambda Cost",
  excel_perf_cost: "eq. 4",
  excel_mask: "eq. 5",
} as const;

function exampleText({ examples }: PromptSpec): string {
  return `${examples} example ${examples === 1 ? "query" : "queries"}, by the encoder as it was`;
}

/** As `joust simulate --policies` has it. */
function policyText({ kind, options }: RunSpec["policy"]): string {
  const set = Object.entries(options).filter(([name]) => name !== "weighting");
  return [kind, ...set.map(([name, value]) => `${name}=${value}`)].join(" ");
}
