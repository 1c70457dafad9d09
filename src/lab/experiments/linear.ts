/** Section 3: FGTS.CDB where its assumption holds, utilities linear in phi. For the claim that regret grows like sqrt(T). */
import { type Bench, fgts } from "../reproduce/bench.ts";
import { curvesExhibit } from "../reproduce/exhibits.ts";
import type { Curve, Exhibit } from "../reproduce/experiment.ts";
import { BASELINES } from "../reproduce/scene.ts";

export const LINEAR = "linear";
const MODELS = 10;
const DIMENSIONS = [8, 16];
/** Rounds, and a fifth of them where time is short. */
const ROUNDS = { full: 3000, quick: 600 };

export function linearWorld(bench: Bench): Exhibit[] {
  const { size, seed } = bench;
  const rounds = size.quick ? ROUNDS.quick : ROUNDS.full;
  const curves = size.scales.flatMap((voteScale) =>
    DIMENSIONS.flatMap((dimension) =>
      [fgts({ horizon: rounds }), ...BASELINES.map((kind) => ({ kind, options: {} }))].map(
        (policy): Curve => {
          const spec = { models: MODELS, dimension, rounds, voteScale, seed, policy };
          return {
            experiment: LINEAR,
            name: policy.kind === "fgts-cdb" ? "FGTS.CDB" : policy.kind,
            encoder: "",
            epochs: 0,
            group: policy.kind === "fgts-cdb" ? "exp" : "baseline",
            weighting: "",
            examples: 0,
            policy: policy.kind,
            form: `d = ${dimension}`,
            voteScale,
            variant: "",
            runs: bench.runs.map((run) => bench.linear({ ...spec, run })),
          };
        },
      ),
    ),
  );
  bench.curves.push(...curves);
  return [
    ...DIMENSIONS.map((dimension) =>
      curvesExhibit({
        id: `${LINEAR}-${dimension}`,
        title: `FGTS.CDB where utilities are linear in ${dimension} dimensions`,
        caption: `${MODELS} models, x and a_k uniform on the sphere of R^${dimension}, utility <theta, phi(x, a_k)> with |theta| = 1: the theory promises regret of order d sqrt(T). Nothing is told: there is one category and no score, so that zero-feedback guesses, and joust, which learns by categories, can find no more than the best fixed model.`,
        curves: curves.filter(({ form }) => form === `d = ${dimension}`),
        colors: "curves",
        withoutQueries: true,
      }),
    ),
  ];
}
