import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { runPlan } from "../jobs/run-plan.ts";
import type { Table } from "../report/table.ts";
import { fullName } from "./curve-name.ts";
import type { FoundEncoders } from "./encoders.ts";
import { finalTable } from "./exhibits.ts";
import type { Curve } from "./experiment.ts";
import type { ReproduceOptions, Reproduction } from "./reproduce.ts";
import { Results } from "./results.ts";
import KINDS from "./work/kinds.ts";

/** The curves of that name in all their worlds: as in a figure, or as in a table, where a baseline says on which vectors. */
export function curvesNamed(
  { bench }: Pick<Reproduction, "bench">,
  name: string,
  absent: FoundEncoders["absent"] = [],
): Curve[] {
  const found = bench.curves.filter((curve) => curve.name === name || fullName(curve) === name);
  if (found.length > 0) return found;
  const lacking = absent.find((encoder) => name.includes(encoder.name));
  if (lacking) {
    throw new InputError(
      { file: "--curve" },
      `there is no curve ${name} here, for want of ${lacking.name}`,
      lacking.reason,
    );
  }
  const names = [...new Set(bench.curves.flatMap((curve) => [curve.name, fullName(curve)]))];
  throw new InputError(
    { file: "--curve" },
    `there is no curve ${name} here`,
    `${didYouMean(name, names)}names are as in the figures and tables, and all in the report's lists of curves`,
  );
}

/** Runs what these curves need and nothing else; undefined where it was stopped. */
export async function reproduceCurves(
  { bench }: Reproduction,
  curves: readonly Curve[],
  options: ReproduceOptions,
): Promise<Table | undefined> {
  const plan = bench.plan.only(curves.flatMap(({ runs }) => runs));
  const keys = await runPlan(plan, { kinds: KINDS, ...options });
  if (!keys) return undefined;
  const values = new Map<string, unknown>();
  for (const id of new Set(curves.flatMap(({ runs }) => runs)))
    values.set(id, (await options.store.get(keys.get(id)!)).value);
  const results = new Results(bench, values);
  const rounds = [...new Set(curves.map((curve) => results.rounds(curve)))].sort((a, b) => a - b);
  const drawing = finalTable("curve", curves[0]!.name, { curves, rounds }).draw(results);
  return drawing.kind === "table" ? drawing.table : undefined;
}
