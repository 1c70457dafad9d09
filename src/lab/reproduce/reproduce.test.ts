import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { PLACES } from "../jobs/local-workers.fixture.ts";
import { findDataSets } from "./data-sets.ts";
import { findEncoders } from "./encoders.ts";
import { recordOf } from "./record.ts";
import { curvesFigure, curvesTable } from "./report-items.ts";
import { CURVE, newPlanner, resultsOf, runValue } from "./results.fixture.ts";
import { openScores, weightingTable, without } from "./score-tables.ts";
import { judgeParts, minus } from "./verdict.ts";
import { refuseOtherFolder, writeReport } from "./write-report.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-reproduce-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("results", () => {
  it("are read at a round, between shares of a run, and by attributes", async () => {
    const results = resultsOf(await newPlanner(), [
      { curve: {}, runs: [runValue(100, () => 1), runValue(100, (t) => (t > 50 ? 3 : 1))] },
      { curve: { group: "ctrl" }, runs: [runValue(100, () => 2), runValue(100, () => 2)] },
    ]);
    const [exp] = results.curves({ group: "exp" });
    expect(results.regrets(exp!)).toEqual([100, 200]);
    expect(results.regrets(exp!, 50)).toEqual([50, 50]);
    expect(results.regrets(exp!, 55)).toBeUndefined();
    expect(results.slopes(exp!, 0, 0.5)).toEqual([1, 1]);
    expect(results.slopes(exp!, 0.5, 1)).toEqual([1, 3]);
    const ctrl = results.counterpart(exp!, { group: "ctrl" })!;
    expect(minus(results.regrets(exp!)!, results.regrets(ctrl)!)).toEqual([-100, 0]);
    expect(results.counterpart(exp!, { form: "other" })).toBeUndefined();
    expect(results.of(["MiniLM"]).curves({})).toHaveLength(2);
    expect(results.of(["e5b"]).curves({})).toEqual([]);
  });
});

describe("the paper's tables", () => {
  it("weighting: the 70 cells and masks of the first table, except the one that it prints wrong", async () => {
    const { routerbench, paths } = await findDataSets(undefined);
    if ("missing" in routerbench) throw new Error(routerbench.missing);
    const scores = await openScores(paths[routerbench.scores.sha256]!);
    expect(scores.models).toHaveLength(11);
    const item = weightingTable(without(scores, ["gpt-4"]));
    expect(item.caption).toContain("would be marked too: gpt-3.5 on mt-bench");
    const drawing = item.draw(resultsOf(await newPlanner(), []));
    if (drawing.kind !== "table") throw new Error("not a table");
    const row = drawing.table.rows.find(([model]) => model === "yi-34b")!;
    // The paper's row of Yi 34B.
    expect(row.slice(1, 10).join(" ")).toBe("0.727 0.727 1 0.937 0.937 1 0.331 0 0");
  });
});

describe("data sets", () => {
  it("without a folder are the project's own, and the note says so", async () => {
    const { mmlu, routerbench, mixinstruct } = await findDataSets(undefined);
    for (const one of [mmlu, mixinstruct])
      expect(one).toMatchObject({ note: expect.stringMatching(/own/) });
    expect(routerbench).toMatchObject({ forms: [{ name: "own" }] });
  });

  it("that are not in the folder are reported as missing; a missing folder is refused", async () => {
    const folder = newFolder();
    const found = findDataSets(folder);
    await expect(found).rejects.toThrow(
      errorText(/has none of the data sets: .*; hint: name the folder/),
    );
    mkdirSync(join(folder, "mixinstruct"));
    writeFileSync(join(folder, "mixinstruct", "test.jsonl"), "{}");
    const { mmlu, routerbench, mixinstruct } = await findDataSets(folder);
    expect(mmlu).toEqual({ missing: "no *_test.csv and *_dev.csv in mmlu/ of the data folder" });
    expect(routerbench).toHaveProperty("missing");
    expect(mixinstruct).toMatchObject({ title: "MixInstruct" });
    await expect(findDataSets("/nowhere")).rejects.toThrow(InputError);
  });
});

describe("encoders", () => {
  it("that are available are run; the others of the paper are reported with a reason", async () => {
    const { here, absent } = await findEncoders(undefined, PLACES);
    expect(here.map(({ name, epochs }) => [name, epochs])).toEqual([["static", [10]]]);
    expect(absent.map(({ name }) => name)).toEqual(["MiniLM", "mpnet", "e5b", "OpenAItext"]);
    for (const { reason } of absent) expect(reason).not.toBe("");
    await expect(findEncoders(["e5b"], PLACES)).rejects.toThrow(InputError);
  });

  it("of the paper that the user did not name are reported, the program's own is not", async () => {
    const { here, absent } = await findEncoders(["hash"], PLACES);
    expect(here.map(({ name }) => name)).toEqual(["hash"]);
    expect(absent.map(({ name }) => name)).toEqual(["MiniLM", "mpnet", "e5b", "OpenAItext"]);
    for (const { reason } of absent) expect(reason).toBe("not requested");
  });
});

describe("the report", () => {
  const CLAIM = {
    place: "1",
    statement: "It is so.",
    criterion: "c",
    needs: ["routerbench"],
    test: () => judgeParts([]),
  };
  const reproduced = async () => {
    const runs = [runValue(100, () => 0.5), runValue(100, () => 0.6)];
    const results = resultsOf(await newPlanner(), [{ curve: {}, runs }]);
    const { planner } = results;
    const head = { title: "<A>", caption: "c", curves: planner.curves };
    const items = [
      curvesFigure({ ...head, id: "curves" }),
      curvesFigure({ ...head, id: "drawn", withoutQueries: true }),
      curvesTable("table", "T", { curves: planner.curves, rounds: [] }),
    ];
    const experiment = { name: "routerbench", title: "RouterBench", plan: () => Promise.reject() };
    return {
      planner,
      results,
      parts: [{ experiment, notes: ["a <note>"], items, standIn: "other queries" }],
      claims: [],
      judged: [
        { claim: { ...CLAIM, id: 1, shownBy: /^cur/ }, ...judgeParts([]) },
        { claim: { ...CLAIM, id: 2 }, ...judgeParts([]) },
      ],
    };
  };
  const recordFor = async () =>
    recordOf(await reproduced(), {
      command: "joust reproduce all",
      encoders: { here: [], absent: [{ name: "e5b", reason: "is not here" }] },
      version: "1",
    });

  it("is a page that needs no other file, with figures, tables and the record beside it", async () => {
    const folder = join(newFolder(), "out");
    await writeReport(folder, await reproduced(), await recordFor());
    const page = readFileSync(join(folder, "report.html"), "utf8");
    expect(page).not.toMatch(/(src|href)="https?:|@import|url\(/);
    expect(page).toContain("a &#60;note&#62;");
    expect(page).toContain("not run: is not here");
    // It says how each curve was made, and which command runs it again.
    expect(page).toContain("100 vectors and 2 models on the sphere of R^2");
    expect(page).toContain(`joust reproduce routerbench --curve &#34;${CURVE.name}&#34;`);
    // Every title names the stand-in.
    expect(page).toContain("RouterBench (a stand-in: other queries)</a></h2>");
    // A claim links to the figure that shows it, or to its experiment.
    expect(page).toMatch(/id="claim-1">\s*<h3><a href="#curves">1<\/a>\./);
    expect(page).toMatch(/id="claim-2">\s*<h3><a href="#routerbench">2<\/a>\./);
    // One style for all figures, dark ones included.
    expect(page.match(/prefers-color-scheme:dark/g)).toHaveLength(1);
    const text = (name: string) => readFileSync(join(folder, name), "utf8");
    expect(text("claims.md")).toMatch(
      /^Of the paper's 2 claims .*\n\nIn place of .*\n\nOf the paper.*\n\n\*\*/,
    );
    expect(text("figures/curves.svg")).toContain(">&#60;A&#62; (a stand-in: other queries)</text>");
    expect(text("figures/drawn.svg")).toContain(">&#60;A&#62;</text>");
    const record = JSON.parse(readFileSync(join(folder, "reproduce.json"), "utf8"));
    expect(record.curves[0]).toMatchObject({
      name: CURVE.name,
      rounds: 100,
      regret: { mean: 55, runs: [50, 60] },
    });
    expect((await readdir(folder)).sort()).toEqual([
      "claims.csv",
      "claims.md",
      "claims.tex",
      "figures",
      "report.html",
      "reproduce.json",
      "tables",
    ]);
    // A second report removes figures that it does not have.
    writeFileSync(join(folder, "figures", "old.svg"), "");
    await writeReport(folder, await reproduced(), await recordFor());
    expect(await readdir(join(folder, "figures"))).toEqual(["curves.svg", "drawn.svg"]);
  });

  it("has a record with the names that --curve takes, and the runs at every length", async () => {
    const long = runValue(320, () => 0.5);
    const joust = { name: "joust", policy: "joust", group: "baseline" } as const;
    const results = resultsOf(await newPlanner(), [{ curve: joust, runs: [long, long] }]);
    const whole = { ...(await reproduced()), results, planner: results.planner };
    const found = { here: [], absent: [] };
    const { curves } = recordOf(whole, { command: "", encoders: found, version: "1" });
    expect(curves[0]).toMatchObject({
      name: "joust on MiniLM_E4",
      rounds: 320,
      regret: { runs: [160, 160] },
      earlier: { rounds: 160, regret: { runs: [80, 80] }, priced: { runs: [80, 80] } },
    });
  });

  it("is not written over other files", async () => {
    const folder = newFolder();
    await refuseOtherFolder(folder);
    writeFileSync(join(folder, "thesis.tex"), "");
    await expect(refuseOtherFolder(folder)).rejects.toThrow(/thesis.tex/);
    writeFileSync(join(folder, "reproduce.json"), "{}");
    await refuseOtherFolder(folder);
    await refuseOtherFolder(join(folder, "new"));
  });
});
