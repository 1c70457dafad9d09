/**
 * Section 4.1 and appendix A, figs. 1, 2 and 5: five topics of MMLU, ten offline
 * queries of each, five experts. The utility of expert k on topic m is the
 * cosine between the mean vectors of topics k and m: one matrix for all curves,
 * from the original MiniLM over all queries (from the first encoder where there
 * is no MiniLM). Every other query comes once: 595 with the paper's data.
 */

import type { JobId } from "../jobs/job.ts";
import { pointsSvg } from "../report/points.ts";
import { PALETTE } from "../report/svg.ts";
import { fgts } from "../reproduce/bench.ts";
import type { BenchEncoder } from "../reproduce/encoders.ts";
import { curvesExhibit, finalTable, geometryExhibit } from "../reproduce/exhibits.ts";
import type { Curve, Exhibit, Experiment } from "../reproduce/experiment.ts";
import { type Look, Scene } from "../reproduce/scene.ts";
import type { DataSpec, ProjectValue } from "../reproduce/work/specs.ts";
import { linearWorld } from "./linear.ts";

const NAME = "mmlu";
const ONCE = { rounds: "once", stream: "shuffled" } as const;
/** Of the paper's data, for the time it takes; the data decides. */
const ROUNDS = 595;

export const mmlu: Experiment = {
  name: NAME,
  title: "MMLU: general-purpose embeddings and experts",
  async plan(bench) {
    const source = bench.data.mmlu;
    if ("missing" in source) return { notes: [source.missing], exhibits: [] };
    const texts: DataSpec = { files: source.files, categories: source.topics };
    const judge = bench.encoders.find(({ name }) => name === "MiniLM") ?? bench.encoders[0]!;
    const experts = bench.embed(judge, [{ of: "data", data: texts }], 645, NAME);
    const scene = new Scene(bench, {
      experiment: NAME,
      form: "five topics",
      data: { ...texts, experts },
      offline: 10,
      models: 5,
      queries: 645,
      categories: 5,
      streamOf: () => ONCE,
    });
    const figures = bench.encoders.map((encoder) => figureOf(encoder, curvesOf(scene, encoder)));
    for (const encoder of bench.encoders) {
      for (const epochs of statesOf(encoder)) {
        const runs = describeRuns(scene, encoder, epochs);
        bench.descriptions.push({ experiment: NAME, encoder: encoder.name, epochs, runs });
      }
    }
    const own = bench.curves.filter(({ experiment }) => experiment === NAME);
    return {
      standIn: source.standIn,
      exhibits: [
        ...figures,
        finalTable(`${NAME}-table`, "MMLU: every curve", { curves: own, rounds: [] }),
        ...pictures(scene, texts),
        ...linearWorld(bench),
      ],
      notes: [
        source.note,
        `Utilities are cosines between topic means of ${judge.name} as it was, over all queries.`,
        "mean: a_k is the mean of topic k's ten offline queries. prompt: the encoder's vector of the paper's listing 2. centred: as mean, less the mean over the experts. added: phi(x, a) = x + a in place of the Hadamard product. Told scores are the utilities themselves.",
      ],
    };
  },
};

function curvesOf(scene: Scene, encoder: BenchEncoder): Curve[] {
  const original: Look = { encoder, epochs: 0, rounds: ROUNDS };
  const last: Look = { ...original, epochs: encoder.epochs.at(-1) ?? 0 };
  return scene.bench.size.scales.flatMap((voteScale) => [
    ...(["hadamard", "addition"] as const).flatMap((features) => {
      const common = { voteScale, policy: fgts({ features }), variant: VARIANTS[features] };
      const named = (name: string) =>
        `${encoder.name}_${name}${common.variant && ` ${common.variant}`}`;
      return [
        scene.line({
          look: original,
          group: "ctrl",
          models: "means",
          ...common,
          name: named("mean"),
        }),
        scene.promptLine(
          { listing: "topic", examples: 2 },
          { look: original, ...common, name: named("prompt") },
        ),
        ...encoder.epochs.map((epochs) =>
          scene.line({
            look: { ...original, epochs },
            group: "exp",
            models: "means",
            ...common,
            name: named(`E${epochs}_mean`),
          }),
        ),
      ];
    }),
    scene.line({
      look: original,
      group: "ctrl",
      models: "means",
      voteScale,
      policy: fgts({ centred: true }),
      variant: "centred",
      name: `${encoder.name}_mean centred`,
    }),
    ...scene.baselines(last, "means", voteScale),
    scene.line({
      look: original,
      group: "baseline",
      models: "means",
      voteScale,
      policy: { kind: "zero-feedback", options: {} },
      variant: "as it was",
      name: "zero-feedback (as it was)",
    }),
  ]);
}

/** What the Hadamard product is compared with. */
const VARIANTS = { hadamard: "", addition: "added" };

function figureOf({ name, epochs }: BenchEncoder, curves: readonly Curve[]): Exhibit {
  const last = epochs.at(-1);
  return curvesExhibit({
    id: `${NAME}-${name}`,
    title: `MMLU, ${name}`,
    caption: `The paper's fig. 1 with ${name}: a_k as a topic's mean (mean) or from a prompt (dash-dotted), before (dashed) and after fine-tuning (E, solid), by the Hadamard product or added. zero-feedback and joust on ${last ? `${name}_E${last}` : name}.`,
    curves,
    colors: "curves",
  });
}

/** Fig. 2, and how far topics lie apart, before and after, in the first run. */
function pictures(scene: Scene, texts: DataSpec): Exhibit[] {
  const { bench } = scene;
  const { main } = bench;
  // Tuned on the left, as in the paper.
  const projected = statesOf(main)
    .toReversed()
    .map((epochs) => {
      const vectors = [scene.vectors({ encoder: main, epochs, rounds: ROUNDS }, 0)];
      const title = titleOf(main, epochs);
      const spec = { data: texts, vectors, seed: bench.seed };
      return { title, job: bench.project(spec, `${NAME}, ${title}`) };
    });
  const described = statesOf(main).map((epochs) => ({
    title: titleOf(main, epochs),
    job: describeRuns(scene, main, epochs)[0]!,
  }));
  return [
    pointsExhibit(projected),
    geometryExhibit(
      {
        id: `${NAME}-categories`,
        title: "MMLU: cosines between topic embeddings",
        caption:
          "cos(xi_m, xi_n) of the first run's offline queries, before and after fine-tuning. Nearest-category accuracy: share of the streamed queries whose nearest xi_m is their own topic's.",
      },
      "byCategory",
      described,
    ),
  ];
}

/** How an encoder sees each run's queries. */
function describeRuns(scene: Scene, encoder: BenchEncoder, epochs: number): JobId[] {
  const { bench } = scene;
  return bench.runs.map((run) => {
    const vectors = [scene.vectors({ encoder, epochs, rounds: ROUNDS }, run)];
    const spec = {
      draw: scene.draw(run),
      told: { models: "means" } as const,
      vectors,
      stream: ONCE,
    };
    return bench.describe(spec, `${NAME}, ${titleOf(encoder, epochs)}, run ${run + 1}`);
  });
}

/** As it was, and after its most epochs. */
function statesOf({ epochs }: BenchEncoder): number[] {
  const last = epochs.at(-1);
  return last === undefined ? [0] : [0, last];
}

function titleOf({ name }: BenchEncoder, epochs: number): string {
  return epochs > 0 ? `${name}_E${epochs}` : `${name} as it was`;
}

function pointsExhibit(
  panels: readonly { readonly title: string; readonly job: JobId }[],
): Exhibit {
  const title = "MMLU: queries in three dimensions, by t-SNE";
  return {
    id: `${NAME}-tsne`,
    title,
    caption:
      "The paper's fig. 2: the vectors of all queries, offline ones among them, in the first run. Perplexity 30, exact t-SNE.",
    hint: "Drag to turn.",
    draw: (results) => {
      const values = panels.map(({ job }) => results.value<ProjectValue>(job));
      const picture = {
        panels: values.map(({ points, category }, i) => ({
          title: panels[i]!.title,
          points,
          category,
        })),
        categories: values[0]!.categories,
        colors: PALETTE,
      };
      return { kind: "figure", svg: pointsSvg(title, picture), points: picture };
    },
  };
}
