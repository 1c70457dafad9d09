/** Describes how every curve was made, from the jobs that made it. */
import type { Table } from "../report/table.ts";
import { type Curve, fullName, settingText, WITHOUT_VECTORS } from "./curve.ts";
import type {
  DataSpec,
  ExamplesSpec,
  FitSpec,
  LinearSpec,
  PromptSpec,
  RunSpec,
  StreamSpec,
  ToldSpec,
} from "./jobs/specs.ts";
import type { Planner } from "./planner.ts";

interface MethodOptions {
  /** Description of the data, if it is not the paper's. */
  readonly standIn?: string | undefined;
  /** The number of rounds, once the jobs are done. */
  roundsOf?(curve: Curve): number;
}

/** A table per set of queries, which its title describes, with a row per curve. */
export function methodTables(
  planner: Planner,
  experiment: string,
  options: MethodOptions = {},
): Table[] {
  // The linear worlds are planned with MMLU.
  const own = planner.curves.filter(
    (curve) => curve.experiment === experiment || (experiment === "mmlu" && curve.encoder === ""),
  );
  const rows = new Map<string, { readonly method: Method; readonly scales: Set<number> }>();
  for (const curve of own) {
    const method = methodOf(planner, curve, options);
    const key = [method.queries, ...method.cells].join("|");
    const row = rows.get(key) ?? { method, scales: new Set() };
    rows.set(key, { ...row, scales: row.scales.add(curve.voteScale) });
  }
  const tables = Map.groupBy(rows.values(), ({ method, scales }) => {
    const votes = method.stored
      ? `Votes are the stored verdicts (vote scale ${[...scales].join(", ")} for pairs without one)`
      : `Vote scale ${[...scales].join(", ")}`;
    return `${method.queries}. ${votes}.`;
  });
  return [...tables].map(([title, own]) => ({
    title,
    columns: COLUMNS,
    rows: own.map(({ method }) => method.cells),
  }));
}

const COLUMNS = ["Curve", "Setting", "Query vectors", "Model embeddings", "Policy"].map(
  (title) => ({ key: title.toLowerCase(), title, kind: "text" }) as const,
);

interface Method {
  /** The queries of the stream and their utilities. */
  readonly queries: string;
  /** One per column. */
  readonly cells: readonly string[];
  /** Whether votes are stored verdicts. */
  readonly stored: boolean;
}

function methodOf(planner: Planner, curve: Curve, options: MethodOptions): Method {
  const { plan } = planner;
  const { kind, spec } = plan.find(curve.runs[0]!);
  const head = [fullName(curve), settingText(curve)];
  if (kind === "linear") {
    const { policy, rounds, models, dimension } = spec as LinearSpec;
    return {
      queries: `${rounds} vectors and ${models} models on the sphere of R^${dimension}, drawn for each run`,
      cells: [...head, ...inputsOf(policy, "as drawn", "as drawn"), policyText(policy)],
      stored: false,
    };
  }
  const { told, vectors, policy, draw } = spec as RunSpec;
  const data = plan.find(draw.data).spec as DataSpec;
  const vector = vectorsText(planner, plan.find(vectors[0]!), curve.encoder);
  return {
    stored: data.ambiguous !== undefined,
    queries: queriesText(spec as RunSpec, data, planner, curve, options),
    cells: [...head, ...inputsOf(policy, vector, modelsText(told), told), policyText(policy)],
  };
}

/** Query vectors and model embeddings, as far as a policy uses them. */
function inputsOf(
  { kind, options }: RunSpec["policy"],
  vectors: string,
  models: string,
  told?: ToldSpec,
): [string, string] {
  if (WITHOUT_VECTORS.includes(kind)) return ["not used", "none"];
  const categories = options.features === "category";
  if (["fgts-cdb", "best-theta"].includes(kind) && !categories) return [vectors, models];
  if (!told || !(categories || USE_TOLD_SCORES.includes(kind))) return [vectors, "none"];
  return [vectors, `none: category means and told scores${categoriesText(told)}`];
}

const USE_TOLD_SCORES = ["zero-feedback", "joust"];

function queriesText(
  { draw, stream, lambda }: RunSpec,
  data: DataSpec,
  planner: Planner,
  curve: Curve,
  { standIn, roundsOf }: MethodOptions,
): string {
  const { ambiguous, exclude } = data;
  const files = data.files.map(({ name }) => name);
  const total = planner.offlineQueries.get(curve.runs[0]!);
  const all =
    total === undefined ? "" : `, ${ambiguous === undefined ? "" : "at most "}${total} in all`;
  return [
    standIn === undefined ? "" : `a stand-in (${standIn})`,
    files.length > 2 ? `${files[0]} and ${files.length - 1} more files` : files.join(" and "),
    ambiguous === undefined ? "" : `the most ambiguous ${Math.round(100 * ambiguous)}% dropped`,
    `${draw.offline} offline queries per ${labelOf(data)}${all}`,
    streamText(stream, planner.size.short, roundsOf?.(curve)),
    exclude?.length ? `all models but ${exclude.join(", ")}` : "",
    `utility: ${utilityText(data, lambda)}`,
    draw.change ? 'in the categories "NAME later" every model has the scores of another model' : "",
  ]
    .filter(Boolean)
    .join("; ");
}

/** Each label has its own offline queries: a category, or a best model. */
function labelOf({ ambiguous }: DataSpec): string {
  return ambiguous === undefined ? "category" : "best model";
}

function utilityText({ experts, verdicts, scores }: DataSpec, lambda: number): string {
  if (experts !== undefined) {
    return "cosine between the means of the expert's topic and of the query's";
  }
  if (verdicts !== undefined) return "wins and half of the ties among verdicts drawn from Perf";
  if (!scores) return "wins and half of the ties among the stored verdicts";
  return `Perf${lambda > 0 ? ` - ${lambda} Cost` : ""} of the query's category`;
}

/** The curve at `short` rounds is the beginning of the same runs. */
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
  if (typeof stream === "string") return `${rounds} rounds, ${stream}`;
  const sections = stream.map((section) =>
    Object.entries(section)
      .map(([name, count]) => `${count} ${name}`)
      .join(", "),
  );
  return `sections, shuffled, no query twice: ${sections.join("; then ")}`;
}

function vectorsText(
  { plan }: Planner,
  job: { readonly kind: string; readonly spec: unknown },
  encoder: string,
): string {
  if (job.kind === "embed") return `the original ${encoder}`;
  const { epochs, examples } = job.spec as FitSpec;
  const { categories, draw } = plan.find(examples).spec as ExamplesSpec;
  const label = labelOf(plan.find(draw.data).spec as DataSpec);
  const each = categories ? `for each of ${categories.join(", ")}` : `per ${label}`;
  return `${encoder} fine-tuned for ${epochs} epochs on the run's offline queries, ${draw.offline} ${each}`;
}

function modelsText(told: ToldSpec): string {
  const { models } = told;
  const known = categoriesText(told);
  if (models === "means") return "a_k is the mean of category k's offline queries";
  if ("listing" in models) {
    const { listing, examples } = models;
    const queries = `${examples} example ${examples === 1 ? "query" : "queries"}`;
    return `${LISTINGS[listing]}, ${queries}, by the original encoder${known}`;
  }
  const { weighting, tau, lambda, temperature } = models;
  if (weighting === "labels") return "eq. 6: mean of the offline queries that k is best on";
  const ranked = weighting.startsWith("excel") ? `, tau ${tau}` : "";
  const priced = weighting === "perf" ? "" : `, lambda ${lambda}`;
  const sharp = temperature === 1 ? "" : `, temperature ${temperature}`;
  return `${EQUATIONS[weighting]}${ranked}${priced}${sharp}${known}`;
}

/** Empty if all categories are known. */
function categoriesText({ categories }: ToldSpec): string {
  return categories ? `, told only of ${categories.join(", ")}` : "";
}

const LISTINGS: Readonly<Record<PromptSpec["listing"], string>> = {
  topic: "prompt of listing 2",
  model: "prompt of listing 3",
  plain: "prompt of listing 3 without Perf and Cost",
};

const EQUATIONS = {
  perf: "eq. 3 with Perf",
  perf_cost: "eq. 3 with Perf - lambda Cost",
  excel_perf_cost: "eq. 4",
  excel_mask: "eq. 5",
} as const;

/** The policy with its options, as `joust simulate --policies` names them. */
function policyText({ kind, options }: RunSpec["policy"]): string {
  const set = Object.entries(options).filter(([name]) => name !== "weighting");
  return [kind, ...set.map(([name, value]) => `${name}=${value}`)].join(" ");
}
