/** A result as one HTML page without scripts, fonts or other files. */

import { definitions, figure, htmlPage, scrollingTable } from "../report/page.ts";
import { htmlText } from "../report/table.ts";
import { paretoPicture, regretPicture } from "./plots.ts";
import type { Result } from "./result.ts";
import { isPriced, kindOf, ranked, resultTable } from "./result-table.ts";
import { summaryOf } from "./summary.ts";

export function reportHtml(result: Result): string {
  const title = titleOf(result);
  const pareto = paretoPicture(result);
  const regret = figure(
    [regretPicture(result)],
    "Cumulative regret by round: mean over runs and, where there are several, its 95% band. The number after a name is its regret at the last round.",
  );
  const cost =
    pareto &&
    figure(
      [pareto],
      "Regret against cost per query. The dashed line is the Pareto front; bars are 95% intervals.",
    );
  return htmlPage({
    title,
    opening: `<p class="summary">${htmlText(summaryOf(result))}</p>`,
    sections: [
      { id: "regret", title: "Regret", html: regret },
      { id: "numbers", title: "Numbers", html: scrollingTable(resultTable(result)) },
      ...(cost === undefined ? [] : [{ id: "cost", title: "Regret and cost", html: cost }]),
      { id: "reading", title: "How to read this", html: reading(result).join("\n") },
      { id: "settings", title: "Settings", html: definitions(settingsOf(result.settings)) },
    ],
  });
}

/** Explains the terms that this report uses. */
function reading(result: Result): string[] {
  const policies = ranked(result);
  const { lambda } = result.settings;
  const hasCost = policies.some(({ costPerQuery }) => costPerQuery !== null);
  const hasTold = policies.some(({ name }) => kindOf(name) === "zero-feedback");
  const learn = [
    `<b>Regret</b> is the utility of the best model for each query minus that of the chosen models (in a
duel, the mean of the two), summed over rounds: lower is better, and a curve that flattens has learned. The <b>band</b>, and each interval in brackets, covers the mean over runs with 95% confidence
(Student's t); run i of every policy sees the same queries, so policies are compared by the <b>paired
difference</b>, run by run, and differ beyond chance if its interval excludes 0.`,
    hasTold &&
      `<b>zero-feedback</b> uses no votes: it takes the model with the best told score in the query's
nearest category, so the distance of a policy from this line is what votes are worth.`,
  ];
  const columns = [
    `<b>Score</b> is the mean score of the answers.`,
    hasCost &&
      `<b>Cost</b> is the mean cost of a query in the data's unit; a duel costs both answers.`,
    isPriced(policies) &&
      `The utility is the score minus lambda (${htmlText(String(lambda))}) times the cost;
<b>regret of scores</b> is the regret without the cost.`,
    `<b>Agreement</b> is the share of rounds answered by a best model; each answer of a duel counts half.
Times are those of one decision and one update, median and 99th percentile.`,
  ];
  return [learn, columns].map((sentences) => `<p>${sentences.filter(Boolean).join(" ")}</p>`);
}

function titleOf({ settings }: Result): string {
  return typeof settings.data === "string" ? `Simulation on ${settings.data}` : "Simulation";
}

/** One row per setting, then one per policy. */
function settingsOf({ policies, ...settings }: Result["settings"]): [key: string, value: string][] {
  const rows = isRecord(policies) ? Object.entries(policies) : [];
  return [
    ...Object.entries(settings).map(([key, value]): [string, string] => [key, inWords(value)]),
    ...rows.map(([name, value]): [string, string] => [`policy ${name}`, inWords(value)]),
  ];
}

/** Lists and records without their brackets: `noisy, sd 0.1` for {"kind":"noisy","sd":0.1}. */
function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(", ");
  if (!isRecord(value)) return String(value);
  return Object.entries(value)
    .map(([key, own]) =>
      isRecord(own) || key === "kind" ? inWords(own) : `${key} ${inWords(own)}`,
    )
    .filter((text) => text !== "")
    .join(", ");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
