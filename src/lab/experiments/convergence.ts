/**
 * The longest curves of RouterBench with more runs. Claim 17 compares slopes, which vary so much
 * from run to run that 20 runs leave it open, and the other claims need no more than 20.
 */

import type { Experiment } from "../reproduce/experiment.ts";
import { choicesFigure, curvesFigure, curvesTable } from "../reproduce/report-items.ts";
import { openScores, without } from "../reproduce/score-tables.ts";
import { type EncoderState, EXCEL, fgts, weighted } from "../reproduce/setting.ts";
import { METADATA, settingOf } from "./routerbench-setting.ts";

const NAME = "convergence";

export const convergence: Experiment = {
  name: NAME,
  title: "Convergence",
  async plan(planner) {
    const { main, size, data } = planner;
    const { routerbench } = data;
    if ("missing" in routerbench) return { notes: [routerbench.missing], items: [] };
    const all = await openScores(data.paths[routerbench.scores.sha256]!);
    const scores = without(all, ["gpt-4"]);
    const { name: form, files } = routerbench.forms[0]!;
    const queries = { files, scores: routerbench.scores, exclude: ["gpt-4"] };
    const setting = settingOf(planner, form, queries, 5, { experiment: NAME });
    const epochs = main.epochs.at(-1) ?? 0;
    const state: EncoderState = { encoder: main, epochs, rounds: size.long };
    const group = epochs > 0 ? "exp" : "ctrl";
    const curves = size.scales.flatMap((voteScale) => [
      ...EXCEL.flatMap((weighting) => {
        const plain = { state, group, voteScale, models: weighted(weighting) } as const;
        const appended = { ...plain, variant: METADATA, policy: fgts({ metadata: "raw" }) };
        return [plain, appended].flatMap((options) => [
          setting.curve(options),
          ...setting.bestThetas(options, ["votes"]),
        ]);
      }),
      ...setting.baselines(state, weighted("perf"), voteScale),
    ]);
    const title = `RouterBench (${form}), ${size.long} rounds, ${planner.runsOf(NAME)} runs`;
    const lines = curves.filter(({ policy }) => policy === "fgts-cdb");
    return {
      notes: [
        `Claim 17 compares slopes, which differ so much between runs that it needs more of them than other claims. The first ${planner.runsOf("routerbench")} runs are also those of the experiment RouterBench.`,
      ],
      standIn: routerbench.standIn,
      items: [
        curvesFigure({
          id: `${NAME}-curves`,
          title,
          caption:
            "The curves of claim 17, which compares their slope in the last third with that in the first third and with that of the best fixed model.",
          curves,
        }),
        choicesFigure(
          {
            id: `${NAME}-choices`,
            title: `${title}: models that answer in the last third, vote scale ${size.scales.at(-1)}`,
            caption:
              "Share of a benchmark's answers that each model gave in these rounds, mean over runs; a duel counts half for each of its models. Outlined: the benchmark's best models by Perf.",
          },
          lines.filter(({ voteScale }) => voteScale === size.scales.at(-1)),
          scores,
        ),
        curvesTable(`${NAME}-table`, `${title}: every curve`, { curves, rounds: [] }),
      ],
    };
  },
};
