/** Section 3: FGTS.CDB where its assumption holds, utilities linear in phi. For the claim that regret grows like sqrt(T). */
import type { Bench } from "../src/reproduce/bench.ts";
import { curvesExhibit } from "../src/reproduce/exhibits.ts";
import type { Curve, Exhibit } from "../src/reproduce/experiment.ts";

export const LINEAR = "linear";
const MODELS = 10;
const DIMENSIONS = [8, 16];
/** Rounds, and a fifth of them where time is short. */
const ROUNDS = { full: 3000, quick: 600 };

export function linearWorld(bench: Bench): Exhibit[] {
  const { size, seed } = bench;
  const rounds = size.quick ? ROUNDS.quick : ROUNDS.full;
  const curves = size.scales.flatMap((voteScale) =>
    DIMENSIONS.map((dimension): Curve => {
      const spec = { models: MODELS, dimension, rounds, voteScale, seed };
      return {
        experiment: LINEAR,
        name: `FGTS.CDB, d=${dimension}`,
        encoder: "",
        epochs: 0,
        group: "exp",
        weighting: "",
        examples: 0,
        policy: "fgts-cdb",
        form: `d=${dimension}`,
        voteScale,
        variant: "",
        runs: bench.runs.map((run) => bench.linear({ ...spec, run })),
      };
    }),
  );
  bench.curves.push(...curves);
  return [
    curvesExhibit({
      id: LINEAR,
      title: "FGTS.CDB where utilities are linear",
      caption: `${MODELS} models, x and a_k uniform on the sphere of R^d, utility <theta, phi(x, a_k)> with |theta| = 1: the theory promises regret of order d sqrt(T).`,
      curves,
      distinct: true,
    }),
  ];
}
