/**
 * Section 5.1.1, figs. 3 (c, d) and 7: ARC is unknown until the second section
 * of the stream. MT-Bench is left out. 300 queries, 60 of each of five
 * benchmarks, then as many again and 120 of ARC among them; no query twice.
 *
 * exp and ctrl are told of five benchmarks and tuned on 15 queries of each;
 * ideal is told of ARC too and has 15 of its queries.
 */
import type { Bench } from "../reproduce/bench.ts";
import { curvesExhibit, finalTable } from "../reproduce/exhibits.ts";
import type { Curve, Exhibit, Experiment } from "../reproduce/experiment.ts";
import { BLIND, type Look, Scene, weighted } from "../reproduce/scene.ts";
import { openScores, type Scores, without } from "../reproduce/score-tables.ts";
import { laterName } from "../reproduce/work/draw.ts";
import type { DataSpec } from "../reproduce/work/specs.ts";
import { EXAMPLES, EXCEL } from "./routerbench-scene.ts";

const NAME = "unseen";
const KNOWN = ["mmlu", "mbpp", "hellaswag", "winogrande", "gsm8k"];
const ARC = "arc-challenge";
const OFFLINE = 15;
/** As many as on RouterBench. */
const FEWER = 5;

export const unseen: Experiment = {
  name: NAME,
  title: "Unseen benchmark",
  async plan(bench) {
    const source = bench.data.routerbench;
    if ("missing" in source) return { notes: [source.missing], exhibits: [] };
    const { scores } = source;
    const section = sectionOf(bench, source.section);
    // With RouterBench's boilerplate ARC, whose wording is HellaSwag's, would hardly be unseen.
    const form = source.forms.at(-1);
    const data = { files: form!.files, scores, exclude: ["gpt-4"], categories: [...KNOWN, ARC] };
    const first = each(KNOWN, section.known);
    const stream = [first, { ...first, [ARC]: section.arc }];
    const rounds = 2 * KNOWN.length * section.known + section.arc;
    const sceneWith = (offline: number) =>
      new Scene(bench, {
        experiment: NAME,
        form: form!.name,
        data,
        texts: { files: data.files },
        offline,
        models: 10,
        queries: 7470,
        categories: 6,
        streamOf: (rounds) => ({ rounds, stream }),
      });
    const scene = sceneWith(OFFLINE);
    const mistaken = mistakenFor(await openScores(bench.data.paths[scores.sha256]!));
    const exhibits = bench.encoders.flatMap((encoder) => {
      const epochs = encoder.epochs.at(-1) ?? 0;
      const curves = bench.size.scales.flatMap((s) =>
        curvesOf(scene, { encoder, epochs, rounds }, s),
      );
      const name = epochs > 0 ? `${encoder.name}_E${epochs}` : encoder.name;
      fewerOffline(sceneWith(FEWER), { encoder, epochs, rounds });
      return figureOf(name, curves, section.known * KNOWN.length, mistaken);
    });
    const own = bench.curves.filter(({ experiment }) => experiment === NAME);
    return {
      standIn: source.standIn,
      exhibits: [
        ...exhibits,
        finalTable(`${NAME}-table`, "Unseen benchmark: every curve", {
          curves: own,
          rounds: [rounds],
        }),
        ...changeOf(bench, data, form!.name, section.known),
      ],
      notes: [
        `On form "${form!.name}" of the RouterBench queries. ${form!.note}`,
        `Beside the paper's ${OFFLINE} offline queries a benchmark the ideal curves are run with ${FEWER}, in the table alone: whether so few suffice is asked of fine-tuned encoders here.`,
        `${section.known} queries of each of ${KNOWN.join(", ")}; then as many again and ${section.arc} of ${ARC}. The environment always uses ARC's Perf.`,
        ...(bench.size.quick
          ? []
          : [
              "Transformers are tuned for four epochs only: with 15 queries a benchmark a fit takes minutes.",
            ]),
      ],
    };
  },
};

/** Half of it where time is short. */
function sectionOf({ size }: Bench, { known, arc }: { known: number; arc: number }) {
  const share = size.quick ? 0.5 : 1;
  return { known: Math.floor(share * known), arc: Math.floor(share * arc) };
}

function curvesOf(scene: Scene, all: Look, voteScale: number): Curve[] {
  const { epochs } = all;
  const five: Look = { ...all, categories: KNOWN };
  const original = { ...five, epochs: 0 };
  return [
    ...EXCEL.flatMap((weighting) => {
      const common = { voteScale, epochs, models: weighted(weighting) };
      const ctrl = scene.line({ look: original, group: "ctrl", ...common });
      if (epochs === 0) return [ctrl];
      return [
        scene.line({ look: five, group: "exp", ...common }),
        ctrl,
        scene.line({ look: all, group: "ideal", ...common }),
      ];
    }),
    ...EXAMPLES.map((examples) =>
      scene.promptLine({ listing: "model", examples }, { look: original, voteScale }),
    ),
    ...scene.baselines(five, weighted("perf"), voteScale),
    scene.line({
      look: all,
      group: "baseline",
      voteScale,
      models: weighted("perf"),
      policy: { kind: "zero-feedback", options: {} },
      name: "zero-feedback (ideal)",
      variant: "ideal",
    }),
  ];
}

/** For the claim that 35 offline queries suffice: a third of them, where all six benchmarks are known. */
function fewerOffline(scene: Scene, look: Look): void {
  if (look.epochs === 0) return;
  const variant = `${FEWER} offline`;
  for (const voteScale of scene.bench.size.scales)
    for (const weighting of EXCEL)
      scene.line({ look, group: "ideal", voteScale, variant, models: weighted(weighting) });
}

/** Why who is told of ARC may do worse: it lies near MMLU, and the two mistakes are not equally dear. */
function mistakenFor(all: Scores): string {
  const { models, categories, perf } = without(all, ["gpt-4"]);
  const [mmlu, arc] = [categories.indexOf("mmlu"), categories.indexOf(ARC)];
  const bestOn = (m: number) => perf.reduce((a, own, k) => (own[m]! > perf[a]![m]! ? k : a), 0);
  const [ofMmlu, ofArc] = [bestOn(mmlu), bestOn(arc)];
  const loss = (m: number, k: number) => (perf[bestOn(m)]![m]! - perf[k]![m]!).toFixed(3);
  return `zero-feedback (ideal) can do worse than zero-feedback, which gives queries of ARC, like those of MMLU near them, to ${models[ofMmlu]}, ${loss(arc, ofMmlu)} below ARC's best: told of ARC too, it takes some of MMLU's for ARC's and gives them to ${models[ofArc]}, ${loss(mmlu, ofArc)} below MMLU's best.`;
}

function figureOf(
  name: string,
  curves: readonly Curve[],
  shift: number,
  mistaken: string,
): Exhibit {
  return curvesExhibit({
    id: `${NAME}-${name}`,
    title: `Unseen benchmark, ${name}`,
    caption: `ARC comes in after ${shift} rounds. Color: the weighting. Solid: exp, told of five benchmarks. Dotted: ideal, told of ARC too. Dashed: ctrl. Dash-dotted: prompts. zero-feedback and joust are told of five, zero-feedback (ideal) of six. ${mistaken}`,
    curves,
    event: { after: shift, text: "ARC comes in" },
  });
}

/**
 * Not in the paper, for its claim that adaptivity is inherent: half-way every
 * model's scores become another model's. `restart` meets only the second half,
 * so it has nothing to unlearn but what it was told.
 */
function changeOf(bench: Bench, data: DataSpec, form: string, known: number): Exhibit[] {
  const { main, size } = bench;
  const later = each(KNOWN.map(laterName), known);
  const half = KNOWN.length * known;
  const sceneOf = (stream: readonly Readonly<Record<string, number>>[]) =>
    new Scene(bench, {
      experiment: NAME,
      form,
      data: { ...data, categories: KNOWN },
      texts: { files: data.files },
      offline: 5,
      change: true,
      models: 10,
      queries: 6000,
      categories: 5,
      streamOf: (rounds) => ({ rounds, stream }),
    });
  const whole = sceneOf([each(KNOWN, known), later]);
  const fresh = sceneOf([later]);
  const look: Look = { encoder: main, epochs: 0, rounds: 2 * half };
  const learners = [
    { kind: "fgts-cdb", options: { weighting: "fitted" }, name: "FGTS.CDB" },
    { kind: "joust", options: {}, name: "joust" },
    { kind: "joust", options: { drift: 0.995 }, name: "joust drift=0.995" },
    ...["zero-feedback", ...BLIND].map((kind) => ({ kind, options: {}, name: kind })),
  ];
  const line = (scene: Scene, rounds: number, variant: string) =>
    size.scales.flatMap((voteScale) =>
      learners.map(({ name, ...policy }) =>
        scene.line({
          look: { ...look, rounds },
          group: policy.kind === "fgts-cdb" ? "ctrl" : "baseline",
          voteScale,
          models: weighted("excel_perf_cost"),
          policy,
          name,
          variant,
        }),
      ),
    );
  const changed = line(whole, 2 * half, "change");
  const restarted = line(fresh, half, "restart");
  return [
    curvesExhibit({
      id: `${NAME}-change`,
      title: `A change after ${half} rounds: every model's scores become another's`,
      caption: `Five benchmarks, ${main.name} as it was, Excel_perf_cost for FGTS.CDB. Whose scores a model takes over is drawn anew for each run. drift: the share of what was learnt that joust takes to be still true one vote later. Not in the paper: a test of its claim that bandits adapt to change by themselves.`,
      curves: changed,
      colors: "curves",
      event: { after: half, text: "scores change" },
    }),
    finalTable(
      `${NAME}-change-table`,
      "A change half-way, and a restart that meets the second half alone",
      {
        curves: [...changed, ...restarted],
        rounds: [half, 2 * half],
      },
    ),
  ];
}

function each(categories: readonly string[], count: number): Record<string, number> {
  return Object.fromEntries(categories.map((name) => [name, count]));
}
