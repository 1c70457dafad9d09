/** The files and the text that `joust evaluate` writes. */
import { join } from "node:path";
import { replaceFile } from "../../core/input/replace-file.ts";
import type { Compared } from "../../gateway/evaluation/journal.ts";
import type { Plan } from "../../gateway/evaluation/plan.ts";
import { type EvaluationPrompt, promptKey } from "../../gateway/evaluation/prompt.ts";
import type { ScoredPrompt } from "../../gateway/evaluation/score-answers.ts";
import { leastVariance, type ScoreLine, scoreFile } from "../../gateway/evaluation/score-table.ts";
import { tableOf, toText } from "../../lab/report/table.ts";
import { plural } from "../../lab/report/words.ts";
import { JOUST } from "../shared/command.ts";
import { duration } from "../shared/status-line.ts";

/** Writes the scored prompts as outcomes, as `joust fit` and `joust simulate` read them. */
export async function writeOutcomes(
  out: string,
  complete: readonly ScoredPrompt[],
  models: readonly string[],
): Promise<string> {
  const lines = complete.map(({ prompt, answers }) => {
    const { id, text: query, category } = prompt;
    const all = models.map((model) => [model, answers.get(model)!] as const);
    const scores = Object.fromEntries(all.map(([model, { score }]) => [model, score]));
    const costs = Object.fromEntries(all.map(([model, { cost }]) => [model, cost]));
    return JSON.stringify({
      id,
      query,
      ...(category !== undefined && { category }),
      scores,
      costs,
    });
  });
  return write(join(out, "outcomes.jsonl"), lines);
}

export async function writeScores(out: string, lines: readonly ScoreLine[]): Promise<string> {
  const file = join(out, "scores.csv");
  await replaceFile(file, scoreFile(lines));
  return file;
}

/** Writes comparisons as votes, as `joust votes import` and `joust fit` read them. */
export async function writeVotes(
  out: string,
  compared: readonly Compared[],
  prompts: readonly EvaluationPrompt[],
  weight: number,
): Promise<string> {
  const texts = new Map(prompts.map((prompt) => [promptKey(prompt), prompt.text]));
  const lines = compared.map(({ at, prompt, a, b, judge, outcome }) =>
    JSON.stringify({
      at: new Date(at).toISOString(),
      query: texts.get(prompt),
      a,
      b,
      outcome,
      voter: `judge:${judge}`,
      weight,
    }),
  );
  return write(join(out, "votes.jsonl"), lines);
}

async function write(file: string, lines: readonly string[]): Promise<string> {
  await replaceFile(file, lines.map((line) => `${line}\n`).join(""));
  return file;
}

/** The text of --dry-run. */
export function planText(plan: Plan, budget: number | undefined, spent: number): string {
  const { requests, paid, dollars, most, seconds } = plan;
  const known =
    paid > 0 ? `; ${plural(paid, "answer")} of an earlier run will not be paid again` : "";
  const upTo = most === undefined ? "" : `, at most ${usd(most)}`;
  const left = budget === undefined ? undefined : budget - spent;
  const fits =
    left === undefined
      ? ""
      : dollars <= Math.max(0, left)
        ? `\n  budget    ${usd(budget!)}, of which ${usd(spent)} is spent: probably enough`
        : `\n  budget    ${usd(budget!)}, of which ${usd(spent)} is spent: enough for about ${Math.floor((100 * Math.max(0, left)) / dollars)}% of the requests`;
  return `Dry run: nothing was sent
  requests  ${requests}${known}
  cost      about ${usd(dollars)}${upTo}
  time      about ${duration(1000 * seconds)}${fits}
`;
}

/** Mean scores and costs of the models, best first. */
export function modelTable(complete: readonly ScoredPrompt[], models: readonly string[]): string {
  const n = complete.length;
  const rows = models.map((model) => {
    const answers = complete.map((scored) => scored.answers.get(model)!);
    const score = answers.reduce((sum, one) => sum + one.score, 0) / n;
    const cost = answers.reduce((sum, one) => sum + one.cost, 0) / n;
    const variance = Math.max(score * (1 - score), leastVariance(n));
    return { model, score, error: Math.sqrt(variance / n), cost };
  });
  const sorted = rows.toSorted((a, b) => b.score - a.score);
  return toText(
    tableOf(`Mean scores over ${plural(n, "prompt")}`, sorted, [
      { key: "model", title: "model", kind: "text", cell: ({ model }) => model },
      { key: "score", title: "score", kind: "number", cell: ({ score }) => score },
      { key: "se", title: "standard error", kind: "number", cell: ({ error }) => error },
      { key: "cost", title: "USD per answer", kind: "number", cell: ({ cost }) => cost },
    ]),
  );
}

/** Wins, losses and ties of the models, best first. */
export function winTable(compared: readonly Compared[], models: readonly string[]): string {
  const rows = models.map((model) => {
    let [wins, losses, ties] = [0, 0, 0];
    for (const { a, b, outcome } of compared) {
      if (a !== model && b !== model) continue;
      if (outcome !== "a" && outcome !== "b") ties++;
      else if ((outcome === "a") === (a === model)) wins++;
      else losses++;
    }
    return { model, wins, losses, ties };
  });
  const sorted = rows.toSorted((a, b) => b.wins - b.losses - (a.wins - a.losses));
  return toText(
    tableOf(plural(compared.length, "comparison"), sorted, [
      { key: "model", title: "model", kind: "text", cell: ({ model }) => model },
      { key: "wins", title: "wins", kind: "whole", cell: ({ wins }) => wins },
      { key: "losses", title: "losses", kind: "whole", cell: ({ losses }) => losses },
      { key: "ties", title: "ties", kind: "whole", cell: ({ ties }) => ties },
    ]),
  );
}

export function usd(dollars: number): string {
  return `$${dollars >= 0.1 ? dollars.toFixed(2) : Number(dollars.toPrecision(2))}`;
}

/** The sentence that says how to give the result to a router. */
export function nextStep(applied: string | undefined, router: string): string {
  return applied === undefined
    ? `run the same command with --router ${router}: it costs nothing more and gives the result to the router`
    : `${JOUST} serve starts the router with what it knows now`;
}
