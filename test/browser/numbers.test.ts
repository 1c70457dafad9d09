import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Learning, Standing, Stats, Tradeoff, Truth } from "../../web/src/api/stats.ts";
import { agreement, compared } from "../../web/src/dashboard/truth.ts";
import { learningVerdict, savingVerdict, trustVerdict } from "../../web/src/dashboard/verdict.ts";
import { count, dollars, duration, percent, plural, signed } from "../../web/src/format.ts";
import { joust } from "../e2e/joust.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { getJson, serve } from "./gateway.fixture.ts";

/** What the dashboard is drawn from, as `joust replay --json` has it. */
interface Numbers {
  readonly stats: Stats;
  readonly learning: Learning;
  readonly tradeoff: Tradeoff;
}

const SOURCES = ["stats", "learning", "tradeoff"] as const;

describeInChromium("the dashboard's numbers", ({ open }) => {
  const gateway = serve(() => ({ sandbox: { speed: 100 } }));

  const post = async (path: string, body: object) => {
    const response = await fetch(gateway.url + path, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return (await response.json()) as { id: string };
  };

  /** Duels with votes of all kinds, single answers and thumbs; then nobody asks any more. */
  async function useIt(): Promise<void> {
    await post("/v1/sandbox/voters", { on: true, votes_per_minute: 3000 });
    for (let i = 0; i < 24; i++) {
      const messages = [{ role: "user", content: `What is ${i} times ${i}?` }];
      const { id } = await post("/v1/chat/completions", { model: "auto", messages });
      if (i % 3 === 0) await post("/v1/feedback", { id, rating: i % 2 === 0 ? 1 : -1 });
    }
    const voters = () => getJson<{ cast: number }>(gateway.url, "/v1/sandbox/voters");
    await expect.poll(async () => (await voters()).cast, WAIT).toBeGreaterThan(40);
    await post("/v1/sandbox/voters", { on: false });
    // The learner has caught up, and the last voter is gone, when nothing moves.
    const state = async () => {
      const { posterior_version, counts } = await getJson<Stats>(gateway.url, "/v1/stats");
      return `${posterior_version} ${counts.answers} ${counts.votes}`;
    };
    await expect
      .poll(async () => {
        const before = await state();
        await new Promise((done) => setTimeout(done, 700));
        return (await state()) === before;
      }, WAIT)
      .toBe(true);
  }

  it("are all those that joust replay computes from the same log", async () => {
    await useIt();
    const config = join(gateway.folder, "joust.yaml");
    const flags = ["--data", gateway.folder, "--config", config, "--json"];
    const { stdout, stderr } = await joust("replay", ...flags);
    expect(stderr).toBe("");
    const replayed = JSON.parse(stdout) as Numbers;
    const page = await open("about:blank");
    const received = SOURCES.map(async (name): Promise<[string, unknown]> => {
      const response = await page.waitForResponse((one) => one.url().includes(`/v1/${name}?`));
      return [name, await response.json()];
    });
    await page.goto(`${gateway.url}/#/dashboard`);
    const told = Object.fromEntries(await Promise.all(received));
    for (const name of SOURCES) expect(differences(told[name], replayed[name], name)).toEqual([]);
    await shows(page, replayed);
  });

  /** Canvases apart, which are drawn from what was compared above, whatever can be read is looked at. */
  async function shows(page: Page, { stats, learning, tradeoff }: Numbers): Promise<void> {
    const served = { ...stats, mode: "apply", guard: null } as const;
    await page.getByRole("heading", { name: "Cost or quality" }).waitFor();
    const text = async (selector: string) =>
      (await page.locator(selector).allTextContents()).join("\n");
    const main = await text("main");
    const verdicts = [
      learningVerdict(served, learning),
      savingVerdict(served),
      trustVerdict(served, tradeoff.advantage),
    ];
    for (const { figure, caption, sentence } of verdicts) {
      for (const words of [figure, caption, sentence]) expect(main).toContain(words);
    }
    await showsStandings(page, stats);
    const { counts, spend } = stats;
    expect(main).toContain(
      `${plural(counts.requests, "request")}, ${plural(counts.duels, "duel")} (${percent(counts.duel_rate)}), ${plural(counts.votes, "vote")}: ${plural(counts.ties, "tie")}, ${count(counts.both_bad)} both bad.`,
    );
    expect(main).toContain(`spent ${dollars(spend.total)}`);
    for (const { model, cost } of [spend.always_best!, spend.always_cheapest!]) {
      expect(main).toContain(`always ${model} ${dollars(cost)}`);
    }
    const labels = await page
      .getByRole("img")
      .evaluateAll((all) => all.map((image) => image.getAttribute("aria-label")).join("\n"));
    const last = learning.stretches.at(-1)!;
    expect(labels).toContain(`${last.regret.mean.toFixed(2)} at last`);
    expect(labels).toContain(`${percent(last.win_rate.mean)} at last`);
    const shown = stats.models.map(({ model, shown }) => `${model} ${shown}`).join(", ");
    expect(labels).toContain(`Answers shown: ${shown}.`);
    const now = tradeoff.points.find((point) => point.tradeoff === tradeoff.current)!;
    expect(main).toContain(dollars(now.cost!));
    expect(main).toContain(signed(now.quality.mean));
    for (const [model, share] of Object.entries(now.shares)) {
      expect(main).toContain(`${model} ${percent(share)}`);
    }
    const truth = await getJson<Truth>(gateway.url, "/v1/sandbox/truth");
    const found = agreement(compared(truth, stats))!;
    expect(main).toContain(`${found.best} of ${found.categories} categories`);
    expect(main).toContain(found.correlation.toFixed(2));
    await showsModels(page, stats);
  }

  async function showsStandings(page: Page, { leaderboard }: Stats): Promise<void> {
    const category = page.getByRole("combobox", { name: "Category" });
    const boards = [{ category: "", models: leaderboard.overall }, ...leaderboard.categories];
    for (const board of boards) {
      await category.selectOption(board.category);
      const rows = await page
        .locator("tr[data-model]")
        .evaluateAll((all) =>
          all.map((row) => [...row.children].map((cell) => cell.textContent).join(" ")),
        );
      expect(rows).toEqual(
        board.models.map(
          ({ model, value, lo, hi, best }) =>
            `${model} ${signed(lo!)} to ${signed(hi!)} ${signed(value)} ${percent(best!)}`,
        ),
      );
    }
    const heat = page.getByRole("region", { name: "Quality by category" });
    for (const { model } of leaderboard.overall) {
      const row = heat.getByRole("row", { name: new RegExp(`^${model} `) });
      const inAll = leaderboard.categories.map(
        ({ models }) => models.find((one) => one.model === model) as Standing,
      );
      expect(await row.getByRole("cell").allTextContents()).toEqual(
        inAll.map(({ value, sd }) => `${signed(value, 2)}±${sd!.toFixed(2)}`),
      );
    }
  }

  async function showsModels(page: Page, { models }: Stats): Promise<void> {
    const table = page.getByRole("region", { name: "Models" }).last().getByRole("table");
    const all = models.reduce((sum, { shown }) => sum + shown, 0);
    for (const one of models) {
      const row = table.getByRole("row", { name: new RegExp(`^${one.model} `) });
      const { answers, failures, mean_latency_ms: latency, votes, wins, cost } = one;
      expect(await row.getByRole("cell").allTextContents()).toEqual([
        "fine",
        percent(one.shown / all),
        count(answers),
        answers === 0 ? "" : percent(failures / answers),
        latency === null ? "" : duration(latency),
        votes === 0 ? "" : `${count(wins)} of ${count(votes)}`,
        cost === 0 ? "" : dollars(cost),
      ]);
    }
  }
});

/** Where what was replayed differs from what was served by more than the order of sums. */
function differences(served: unknown, replayed: unknown, path: string): string[] {
  // Windows begin when they are asked for.
  if (path === "stats.window") return [];
  if (typeof replayed === "object" && replayed !== null) {
    return Object.entries(replayed).flatMap(([key, value]) =>
      differences((served as Record<string, unknown> | undefined)?.[key], value, `${path}.${key}`),
    );
  }
  const isSame =
    typeof replayed === "number" && typeof served === "number"
      ? Math.abs(served - replayed) <= 1e-9 * Math.max(1, Math.abs(replayed))
      : served === replayed;
  return isSame ? [] : [`${path}: ${served} was served, ${replayed} replayed`];
}

/** Under load a machine may take its time. */
const WAIT = { timeout: 40_000, interval: 250 };
