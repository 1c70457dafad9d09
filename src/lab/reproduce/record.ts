import { CodeHashes } from "../jobs/code.ts";
import { type FileRef, filesIn } from "../jobs/job.ts";
import { meanInterval } from "../statistics.ts";
import { fullName } from "./curve-name.ts";
import type { FoundEncoders } from "./encoders.ts";
import type { Curve, Finding } from "./experiment.ts";
import type { Reproduced } from "./reproduce.ts";
import type { Results } from "./results.ts";
import KINDS from "./work/kinds.ts";

/** `reproduce.json`: what was run, on what, and what came of it. */
export interface Record {
  readonly schema: 1;
  readonly settings: Readonly<{ [name: string]: string | number }>;
  readonly encoders: readonly {
    readonly name: string;
    readonly identity: string;
    readonly epochs: readonly number[];
  }[];
  readonly absent: FoundEncoders["absent"];
  readonly data: readonly FileRef[];
  readonly versions: Readonly<{ [name: string]: string }>;
  /** Checksum of what decides the results of each kind of job. */
  readonly code: Readonly<{ [kind: string]: string }>;
  readonly curves: readonly RecordedCurve[];
  readonly claims: readonly RecordedClaim[];
}

interface RecordedCurve extends Omit<Curve, "runs"> {
  /** As `--curve` takes it: a baseline with the vectors that it looks at. */
  readonly name: string;
  readonly rounds: number;
  /** Of each run, at the last round. */
  readonly regret: Recorded;
  readonly priced: Recorded;
  /** The same after the first rounds of a curve that is read there too. */
  readonly earlier?: {
    readonly rounds: number;
    readonly regret: Recorded;
    readonly priced: Recorded;
  };
  readonly cost: number | null;
  readonly score: number;
  readonly agreement: number;
  /** Mean regret at some rounds. */
  readonly curve: { readonly t: readonly number[]; readonly mean: readonly number[] };
}

interface Recorded {
  readonly mean: number;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly runs: readonly number[];
}

interface RecordedClaim extends Finding {
  readonly id: number;
  readonly statement: string;
  readonly criterion: string;
}

export function recordOf(
  { bench, results, judged }: Reproduced,
  { command, encoders, version }: { command: string; encoders: FoundEncoders; version: string },
): Record {
  const { size, seed, data } = bench;
  const used = new Map<string, FileRef>();
  for (const { spec } of bench.plan.jobs)
    for (const file of filesIn(spec)) used.set(file.sha256, file);
  return {
    schema: 1,
    settings: {
      command,
      runs: size.runs,
      seed,
      "vote scales": size.scales.join(", "),
      rounds: [...new Set([size.short, size.long])].join(" and "),
      data: data.paths ? [...used.values()].map(({ name }) => name).join(", ") : "",
    },
    encoders: encoders.here.map(({ name, ref, epochs }) => ({
      name,
      identity: ref.identity,
      epochs,
    })),
    absent: encoders.absent,
    data: [...used.values()],
    versions: { joust: version, node: process.version },
    code: codeOf(bench),
    curves: bench.curves.map((curve) => recordedCurve(results, curve)),
    claims: judged
      .map(({ claim: { id, statement, criterion }, ...finding }) => {
        return { id, statement, criterion, ...finding };
      })
      .sort((a, b) => a.id - b.id),
  };
}

/** The code of each kind of job, and with which policy it was run. */
function codeOf({ plan }: Reproduced["bench"]): Record["code"] {
  const codes = new CodeHashes();
  const found = plan.jobs.map(({ kind, spec }): [string, string] => {
    const { policy } = spec as { readonly policy?: { readonly kind: string } };
    const name = policy ? `${kind} with ${policy.kind}` : kind;
    return [name, codes.of(KINDS[kind]!.code(spec))];
  });
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Points of a curve that are kept. */
const POINTS = 20;

function recordedCurve(results: Results, curve: Curve): RecordedCurve {
  const { runs: _, ...head } = curve;
  const runs = results.runs(curve);
  const { t } = runs[0]!;
  const step = Math.max(1, Math.floor(t.length / POINTS));
  const kept = [...t.keys()].filter((i) => (i + 1) % step === 0 || i === t.length - 1);
  const meanOf = (of: (run: (typeof runs)[number]) => number) =>
    runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  const costs = runs.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  const at = (i: number) => ({
    rounds: t.at(i)!,
    regret: recorded(runs.map(({ regret }) => regret.at(i)!)),
    priced: recorded(runs.map(({ priced }) => priced.at(i)!)),
  });
  const short = t.indexOf(results.bench.size.short);
  return {
    ...head,
    name: fullName(curve),
    ...at(-1),
    ...(short >= 0 && short < t.length - 1 && { earlier: at(short) }),
    cost:
      costs.length > 0 ? round(costs.reduce((sum, cost) => sum + cost, 0) / costs.length) : null,
    score: round(meanOf(({ score }) => score)),
    agreement: round(meanOf(({ agreement }) => agreement)),
    curve: {
      t: kept.map((i) => t[i]!),
      mean: kept.map((i) => round(meanOf(({ regret }) => regret[i]!))),
    },
  };
}

/** JSON has no NaN. */
function recorded(values: readonly number[]): Recorded {
  const { mean, lo, hi } = meanInterval(values);
  const known = Number.isFinite(lo);
  return {
    mean: round(mean),
    lo: known ? round(lo) : null,
    hi: known ? round(hi) : null,
    runs: values.map(round),
  };
}

function round(value: number): number {
  return Number(value.toPrecision(6));
}
