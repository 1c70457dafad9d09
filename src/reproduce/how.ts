/** How every curve came to be, in words, read off the jobs that made it. */
import type { Cell, Table } from "../report/table.ts";
import type { Bench } from "./bench.ts";
import type { Curve } from "./experiment.ts";
import type {
  FitSpec,
  LinearSpec,
  PromptSpec,
  RunSpec,
  StreamSpec,
  ToldSpec,
} from "./work/specs.ts";

/** One row a curve; vote scales that it was run with stand together. */
export function howTable(bench: Bench, experiment: string, title: string): Table {
  const rows = new Map<string, { readonly cells: readonly string[]; readonly scales: number[] }>();
  for (const curve of bench.curves) {
    if (!madeBy(experiment, curve)) continue;
    const cells = cellsOf(bench, curve);
    const key = cells.join("|");
    const row = rows.get(key) ?? { cells, scales: [] };
    row.scales.push(curve.voteScale);
    rows.set(key, row);
  }
  const titles = ["Curve", "Queries", "Query vectors", "Model embeddings", "Policy", "Vote scale"];
  return {
    title,
    columns: titles.map((name) => ({ key: name.toLowerCase(), title: name, kind: "text" })),
    rows: [...rows.values()].map(({ cells, scales }): Cell[] => [...cells, scales.join(", ")]),
  };
}

/** The linear worlds are planned with MMLU. */
function madeBy(experiment: string, curve: Curve): boolean {
  return curve.experiment === experiment || (experiment === "mmlu" && curve.encoder === "");
}

function cellsOf({ plan }: Bench, curve: Curve): string[] {
  const job = plan.find(curve.runs[0]!);
  if (job.kind === "linear") {
    const { policy, rounds, models, dimension } = job.spec as LinearSpec;
    const world = `${rounds} vectors and ${models} models on the sphere of R^${dimension}`;
    return [curve.name, world, "as drawn", "as drawn", policyText(policy)];
  }
  const { draw, told, vectors, policy, stream, lambda } = job.spec as RunSpec;
  const offline = `${draw.offline} ${draw.data.experts || hasCategories(draw) ? "a category" : "a best model"} offline`;
  return [
    curve.name,
    [
      curve.form,
      curve.variant,
      offline,
      streamText(stream),
      lambda > 0 ? `utility less ${lambda} Cost` : "",
    ]
      .filter(Boolean)
      .join("; "),
    vectorsText(plan.find(vectors[0]!), curve.encoder),
    modelsText(told),
    policyText(policy),
  ];
}

function hasCategories({ data }: RunSpec["draw"]): boolean {
  return data.ambiguous === undefined;
}

function streamText({ rounds, stream }: StreamSpec): string {
  if (rounds === "once") return "every other query once";
  if (stream === "uniform") return `${rounds} rounds, category uniform, query with replacement`;
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
  const on = categories ? `those of ${categories.join(", ")}` : "all";
  return `${encoder} fine-tuned for ${epochs} epochs on the run's offline queries, ${draw.offline} each: ${on}`;
}

function modelsText({ models, categories }: ToldSpec): string {
  const of = categories ? `, told of ${categories.join(", ")} alone` : "";
  if (models === "means") return "a_k is the mean of category k's offline queries";
  if ("listing" in models) return `${LISTINGS[models.listing]}, ${exampleText(models)}${of}`;
  const { weighting, tau, lambda, temperature } = models;
  if (weighting === "labels") return "eq. 6: mean of the offline queries that k is best on";
  const ranked = weighting.startsWith("excel") ? `, tau ${tau}` : "";
  const priced = weighting === "perf" ? "" : `, lambda ${lambda}`;
  const sharp = temperature === 1 ? "" : `, temperature ${temperature}`;
  return `${EQUATIONS[weighting]}${ranked}${priced}${sharp}${of}`;
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
