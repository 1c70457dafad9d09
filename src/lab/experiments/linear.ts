/** Section 3: FGTS.CDB in worlds where its assumption holds, for the claim that regret grows like sqrt(T). */
import { BASELINES, type Curve } from "../reproduce/curve.ts";
import type { ReportItem } from "../reproduce/experiment.ts";
import type { Planner } from "../reproduce/planner.ts";
import { curvesFigure } from "../reproduce/report-items.ts";
import { fgts } from "../reproduce/setting.ts";

const NAME = "linear";
const MODELS = 10;
const DIMENSIONS = [8, 16];
const ROUNDS = { full: 3000, quick: 600 };

export function linearWorlds(planner: Planner): ReportItem[] {
  const { size, seed } = planner;
  const rounds = size.quick ? ROUNDS.quick : ROUNDS.full;
  const policies = [fgts({ horizon: rounds }), ...BASELINES.map((kind) => ({ kind, options: {} }))];
  for (const voteScale of size.scales) {
    for (const dimension of DIMENSIONS) {
      for (const policy of policies) {
        const isFgts = policy.kind === "fgts-cdb";
        const spec = { models: MODELS, dimension, rounds, voteScale, seed, policy };
        planner.curves.push({
          experiment: NAME,
          name: isFgts ? "FGTS.CDB" : policy.kind,
          encoder: "",
          epochs: 0,
          group: isFgts ? "exp" : "baseline",
          weighting: "",
          examples: 0,
          policy: policy.kind,
          form: formOf(dimension),
          voteScale,
          variant: "",
          runs: planner.runs("mmlu").map((run) => planner.linear({ ...spec, run })),
        });
      }
    }
  }
  const own =
    (dimension: number) =>
    ({ experiment, form }: Curve) =>
      experiment === NAME && form === formOf(dimension);
  return DIMENSIONS.map((dimension) =>
    curvesFigure({
      id: `${NAME}-${dimension}`,
      title: `FGTS.CDB with utilities that are linear in ${dimension} dimensions`,
      caption: `${MODELS} models, x and a_k uniform on the sphere of R^${dimension}, utility <theta, phi(x, a_k)> with |theta| = 1: the theory promises regret of order d sqrt(T). The router is told nothing: there is one category and no score, so zero-feedback guesses, and joust, which learns by categories, can at best find the best fixed model.`,
      curves: planner.curves.filter(own(dimension)),
      colors: "curves",
      withoutQueries: true,
    }),
  );
}

function formOf(dimension: number): string {
  return `d = ${dimension}`;
}
