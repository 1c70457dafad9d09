import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { LearningCurve, PromptMap, Standing, Stats, Tradeoff } from "../../src/client.ts";
import {
  learningAssessment,
  savingAssessment,
  trustAssessment,
} from "../../web/src/dashboard/assessment.ts";
import { headlineOf } from "../../web/src/dashboard/headline.ts";
import { agreement, compare } from "../../web/src/dashboard/truth.ts";
import { categoryIn, inWords, votesInWords } from "../../web/src/decision/in-words.ts";
import { count, dollars, duration, percent, plural } from "../../web/src/text/format.ts";
import { topicOf } from "../../web/src/text/topics.ts";
import { hundred, winsOf } from "../../web/src/text/wins.ts";
import { joust, ROOT } from "../e2e/joust.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

/** The numbers behind the dashboard, as printed by `joust replay --json`. */
interface Numbers {
  readonly stats: Stats;
  readonly learning: LearningCurve;
  readonly tradeoff: Tradeoff;
  readonly map: PromptMap;
}

const WINNERS = [0, 1, 0, "tie", 1, 0, "both_bad"] as const;
const SOURCES = ["stats", "learning", "tradeoff", "map"] as const;

describeInChromium("the dashboard's numbers", ({ open }) => {
  const gateway = serve(() => ({ sandbox: { speed: 100 } }));

  /** Duels with votes of all kinds, single answers and ratings. Everything is logged when it returns. */
  async function useGateway(): Promise<void> {
    const lines = readFileSync(join(ROOT, "data/queries.jsonl"), "utf8").trim().split("\n");
    const questions = lines.map((line) => (JSON.parse(line) as { query: string }).query);
    let expected = 0;
    const chat = async (content: string, duel: boolean) => {
      const messages = [{ role: "user", content }];
      const { id, choices } = await gateway.client.chat({
        model: "auto",
        messages,
        joust: { duel },
      });
      expected += choices.length;
      return id;
    };
    for (let i = 0; i < 48; i++) {
      const id = await chat(questions[(i * 11) % questions.length]!, true);
      await gateway.client.vote({ id, winner: WINNERS[i % 7]!, voter: `voter ${i % 5}` });
    }
    for (let i = 0; i < 24; i++) {
      const id = await chat(`What is ${i} times ${i}?`, false);
      if (i % 3 === 0) await gateway.client.vote({ id, rating: i % 2 === 0 ? 1 : -1 });
    }
    // Answers are logged shortly after they were sent.
    const answers = async () => {
      const { data } = await gateway.client.decisions({ limit: 100 });
      return data.reduce((sum, decision) => sum + decision.answers.length, 0);
    };
    await expect.poll(answers).toBe(expected);
  }

  it("are equal to those that joust replay computes from the same log", async () => {
    await useGateway();
    const config = join(gateway.folder, "joust.yaml");
    const flags = ["--data", gateway.folder, "--config", config, "--json"];
    const { stdout, stderr } = await joust("replay", ...flags);
    expect(stderr).toBe("");
    const replayed = JSON.parse(stdout) as Numbers;
    const version = async () => (await gateway.client.stats()).posterior_version;
    await expect.poll(version).toBe(replayed.stats.posterior_version);
    const page = await open("about:blank");
    const received = SOURCES.map(async (name): Promise<[string, unknown]> => {
      const response = await page.waitForResponse((one) => one.url().includes(`/v1/${name}?`));
      return [name, await response.json()];
    });
    await page.goto(`${gateway.url}/#/dashboard`);
    const served = Object.fromEntries(await Promise.all(received));
    for (const name of SOURCES) expect(differences(served[name], replayed[name], name)).toEqual([]);
    await shows(page, replayed);
  });

  /** Checks all texts of the page. Canvases cannot be read, but their data was compared above. */
  async function shows(page: Page, { stats, learning, tradeoff, map }: Numbers): Promise<void> {
    const served = { ...stats, mode: "apply", guard: null } as const;
    const main = async () => (await page.locator("main").allTextContents()).join("\n");
    const showsText = (text: string) => expect.poll(main).toContain(text);
    const assessments = [
      learningAssessment(served, learning),
      savingAssessment(served),
      trustAssessment(served, tradeoff),
    ];
    for (const { figure, caption, sentence } of assessments) {
      for (const words of [figure, caption, sentence]) await showsText(words);
    }
    const { sentence, evidence } = headlineOf(served, tradeoff, "last day");
    for (const line of [sentence, ...evidence]) await showsText(line);
    await showsStandings(page, stats);
    const { counts, spend } = stats;
    await showsText(
      `${plural(counts.requests, "request")}, ${plural(counts.duels, "duel")} (${percent(counts.duel_rate)}), ${plural(counts.votes, "vote")}: ${plural(counts.ties, "tie")}, ${count(counts.both_bad)} both bad.`,
    );
    await showsText(`spent ${dollars(spend.total)}`);
    for (const { model, cost } of [spend.always_best!, spend.always_cheapest!]) {
      await showsText(`always ${model} ${dollars(cost)}`);
    }
    await showsCharts(page, { stats, learning, map });
    const truth = await gateway.client.truth();
    const found = agreement(compare(truth, stats))!;
    await showsText(`${found.best} of ${found.categories} categories`);
    await showsText(found.correlation.toFixed(2));
    await showsText(percent(found.covered!));
    await showsModels(page, stats);
    await showsDecisions(page);
    await showsTradeoff(page, tradeoff);
  }

  /** Checks the text alternatives of the charts. */
  async function showsCharts(
    page: Page,
    { stats, learning, map }: Pick<Numbers, "stats" | "learning" | "map">,
  ): Promise<void> {
    const labels = () =>
      page
        .getByRole("img")
        .evaluateAll((all) => all.map((image) => image.getAttribute("aria-label")));
    const [first, last] = [learning.stretches[0]!, learning.stretches.at(-1)!];
    const change = (of: (stretch: typeof first) => Stats["regret"], format: Format) => {
      const { mean, lo, hi } = of(last)!;
      return `${format(of(first)!.mean)} at the start, ${format(mean)} at the end (95% interval ${format(lo)} to ${format(hi)}).`;
    };
    const shown = stats.models.map((one) => `${one.model} ${one.given}`).join(", ");
    const counted = map.categories.map(({ category }) => {
      const points = map.points.filter((point) => point.category === category);
      return `${topicOf(category)} ${points.length}`;
    });
    for (const label of [
      `Regret per request: ${change(
        ({ regret }) => regret,
        (value) => (50 * value).toFixed(1),
      )}`,
      `Win rate: ${change(({ win_rate }) => win_rate, percent)}`,
      `Share of traffic over time. Answers given: ${shown}.`,
      `Map of ${plural(map.points.length, "prompt")}: ${counted.join(", ")}. The list of decisions contains all of them.`,
    ]) {
      await expect.poll(labels).toContain(label);
    }
  }

  /** Checks the panel at every position of the slider. */
  async function showsTradeoff(page: Page, { points, current, recent_queries }: Tradeoff) {
    const panel = page.getByRole("region", { name: "Cost-quality trade-off" });
    const text = async () => (await panel.allTextContents()).join("\n");
    const now = points.find(({ tradeoff }) => tradeoff === current)!;
    expect(await text()).toContain(`the last ${plural(recent_queries, "request")}`);
    for (const { tradeoff, cost, wins, shares } of points) {
      await panel.getByRole("slider").fill(String(tradeoff));
      await panel.getByRole("strong").getByText(String(tradeoff), { exact: true }).waitFor();
      const said = await text();
      const { mean, lo, hi } = wins!;
      const figures = [dollars(cost!), hundred(mean), `${hundred(lo)} to ${hundred(hi)}`];
      for (const figure of figures) expect(said).toContain(figure);
      for (const [model, share] of Object.entries(shares)) {
        expect(said).toContain(`${model} ${percent(share)}`);
      }
      const cheaper = cost! / now.cost! - 1;
      const better = Number(hundred(mean)) - Number(hundred(now.wins!.mean));
      if (Math.abs(cheaper) >= 0.0005) expect(said).toContain(percent(Math.abs(cheaper)));
      if (better !== 0) {
        const noun = `${better > 0 ? "more" : "fewer"} win${Math.abs(better) === 1 ? "" : "s"}`;
        expect(said).toContain(`${Math.abs(better)} ${noun} of 100`);
      }
    }
  }

  /** Compares the list with the log; the decisions are not recomputed. */
  async function showsDecisions(page: Page): Promise<void> {
    const list = page.getByRole("region", { name: "Decisions" }).last();
    const rows = await list.getByRole("link").allTextContents();
    expect(rows.length).toBeGreaterThan(5);
    const { data } = await gateway.client.decisions({ limit: rows.length });
    for (const [i, decision] of data.entries()) {
      const cost = decision.answers.reduce((sum, answer) => sum + (answer.cost ?? 0), 0);
      const category = topicOf(categoryIn(decision)!);
      expect(rows[i]).toContain(
        `${inWords(decision)}${votesInWords(decision)}${category}${dollars(cost)}`,
      );
    }
  }

  async function showsStandings(page: Page, { leaderboard }: Stats): Promise<void> {
    const category = page.getByRole("combobox", { name: "Category" });
    const boards = [{ category: "", models: leaderboard.overall }, ...leaderboard.categories];
    for (const board of boards) {
      await category.selectOption(board.category);
      if ("share" in board) {
        const chosen = category.getByRole("option", { selected: true });
        expect(await chosen.textContent()).toContain(`(${percent(board.share)})`);
      }
      const rows = () =>
        page
          .locator("tr[data-model]")
          .evaluateAll((all) =>
            all.map((row) => [...row.children].map((cell) => cell.textContent).join(" ")),
          );
      await expect
        .poll(rows)
        .toEqual(
          board.models.map(
            ({ model, value, lo, hi, best }) =>
              `${model} ${winsOf(lo!)} to ${winsOf(hi!)} ${winsOf(value)} ${percent(best!)}`,
          ),
        );
    }
    const heat = page.getByRole("region", { name: "Quality by category" }).last();
    for (const { model } of leaderboard.overall) {
      const row = heat.getByRole("row", { name: new RegExp(`^${model} `) });
      const inAll = leaderboard.categories.map(
        ({ models }) => models.find((one) => one.model === model) as Standing,
      );
      expect(await row.getByRole("cell").allTextContents()).toEqual(
        inAll.map(({ value, sd }) => `${winsOf(value)}±${Math.ceil(50 * sd!)}`),
      );
    }
  }

  async function showsModels(page: Page, { models }: Stats): Promise<void> {
    const table = page.getByRole("region", { name: "Models" }).last().getByRole("table");
    await table.getByRole("columnheader", { name: "Price, $ per million tokens" }).waitFor();
    for (const one of models) {
      const row = table.getByRole("row", { name: new RegExp(`^${one.model} `) });
      const { share, calls, failures, mean_latency_ms: latency, votes, wins, cost } = one;
      const { input_tokens: input, output_tokens: output } = one;
      const cells = await row.getByRole("cell").allTextContents();
      // The 95th percentile comes from the running process, not from the log.
      const [p95] = cells.splice(6, 1);
      expect(p95).toMatch(calls === 0 ? /^$/ : /^\d+(\.\d)? m?s$/);
      const { price } = await gateway.client.model(one.model);
      expect(cells).toEqual([
        calls === 0 ? "no recent calls" : "ok",
        dollars(price!.input),
        share === null ? "" : percent(share),
        count(calls),
        calls === 0 ? "" : percent(failures / calls),
        latency === null ? "" : duration(latency),
        input + output === 0 ? "" : count(input + output),
        votes === 0 ? "" : `${count(wins)} of ${count(votes)}`,
        cost === 0 ? "" : dollars(cost),
      ]);
    }
  }
});

type Format = (value: number) => string;

/** The paths at which served and replayed numbers differ by more than rounding. */
function differences(served: unknown, replayed: unknown, path: string): string[] {
  // The start of the window depends on the time of the request.
  if (path === "stats.window") return [];
  if (Array.isArray(replayed) && (served as unknown[])?.length !== replayed.length) {
    return [`${path}: served and replayed lists have different lengths`];
  }
  if (typeof replayed === "object" && replayed !== null) {
    return Object.entries(replayed).flatMap(([key, value]) =>
      differences((served as Record<string, unknown> | undefined)?.[key], value, `${path}.${key}`),
    );
  }
  const isSame =
    typeof replayed === "number" && typeof served === "number"
      ? Math.abs(served - replayed) <= 1e-9 * Math.max(1, Math.abs(replayed))
      : served === replayed;
  return isSame ? [] : [`${path}: served ${served}, replayed ${replayed}`];
}
