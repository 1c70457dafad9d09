import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { InputError } from "../input/input-error.ts";
import { claimsTable, headlineOf } from "./claims-table.ts";
import { findDataSets } from "./data-sets.ts";
import { findEncoders } from "./encoders.ts";
import { curvesExhibit, finalTable } from "./exhibits.ts";
import type { Claim } from "./experiment.ts";
import { heatMapsSvg } from "./figures/heat-map.ts";
import { pointsSvg } from "./figures/points.ts";
import { radarSvg } from "./figures/radar.ts";
import { PLACES } from "./jobs/alone.fixture.ts";
import { recordOf } from "./record.ts";
import { CURVE, newBench, resultsOf, runValue } from "./results.fixture.ts";
import { openScores, weightingTable, without } from "./score-tables.ts";
import { type CellOfClaim, decide, decideEach, minus, untestable } from "./verdict.ts";
import { refuseForeign, writeReproduction } from "./write.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-reproduce-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("verdicts", () => {
  const clear = (sign: number) => ({ label: "", differences: [1, 1.1, 0.9].map((d) => sign * d) });
  const open = { label: "", differences: [1, -1, 0] };

  it("a claim holds if two thirds of its cells lie beyond chance on its side", () => {
    expect(decide([clear(-1), clear(-1), open])).toMatchObject({ verdict: "holds" });
    expect(decide([clear(-1), open, open]).verdict).toBe("does not hold");
    expect(decide([clear(1), clear(1), clear(1)]).evidence).toBe(
      "shown in 0 of 3 cells, the opposite in 3; mean difference of regret 1.0, from 1.0 to 1.0",
    );
    expect(decide([clear(1), clear(1), open]).refuted).toBe(true);
    expect(decide([clear(1), open, open]).refuted).toBe(false);
    expect(decide([clear(-1)]).refuted).toBeUndefined();
    expect(decide([clear(-1), open]).cells.map(({ supports }) => supports)).toEqual([true, false]);
  });

  it("a claim of parts holds if each does, however many cells the others have", () => {
    const parts = (second: CellOfClaim) => [
      { name: "a", cells: [clear(-1), clear(-1), clear(-1)] },
      { name: "b", cells: [second] },
    ];
    expect(decideEach(parts(clear(-1))).verdict).toBe("holds");
    expect(decideEach(parts(open))).toMatchObject({ verdict: "does not hold", refuted: false });
    expect(decideEach(parts(clear(1))).refuted).toBe(true);
    expect(decideEach([...parts(clear(-1)), { name: "c", cells: [] }])).toEqual(decide([]));
  });

  it("a part that fails decides, whatever cannot be tested beside it", () => {
    const none = { name: "b", cells: [] };
    const failing = decideEach([{ name: "a", cells: [clear(1)] }, none]);
    expect(failing).toMatchObject({ verdict: "does not hold", refuted: true });
    expect(failing.evidence).toContain("b: nothing here speaks of it");
    expect(decideEach([{ name: "a", cells: [open] }, none]).refuted).toBe(false);
  });

  it("one run, or nothing to compare, decides nothing", () => {
    expect(decide([])).toEqual(untestable("nothing here speaks of it"));
    expect(decide([{ label: "", differences: [-1] }]).evidence).toMatch("give --runs 5");
  });

  it("what is not a number decides nothing, and unequal runs are no pairs", () => {
    const broken = { label: "one", differences: [-1, Number.NaN, -1] };
    expect(decide([clear(-1), clear(-1), broken])).toEqual(
      untestable("a run of one has no number to compare"),
    );
    expect(() => minus([1, 2], [1])).toThrow("cannot pair 2 runs with 1");
  });

  it("intervals are Student's over the runs: 2.776 standard errors at five", () => {
    const [cell] = decide([{ label: "", differences: [1, 2, 3, 4, 5] }]).cells;
    // s = sqrt(2.5), standard error s / sqrt(5) = 0.7071
    expect(cell!.hi).toBeCloseTo(3 + 2.776445 * Math.SQRT1_2, 5);
    expect(cell!.lo).toBeCloseTo(3 - 2.776445 * Math.SQRT1_2, 5);
  });

  it("are counted in a headline that warns of few runs", () => {
    const claim = (id: number) => ({ id }) as Claim;
    const judged = [
      { claim: claim(2), ...decide([clear(-1)]) },
      { claim: claim(1), ...decide([clear(1)]) },
      { claim: claim(3), ...decide([]) },
    ];
    expect(headlineOf(judged, 5)).toBe(
      "Of 3 claims 1 holds here (2), 1 does not (1), and 1 cannot be tested here (3). Of those that do not, the opposite is shown of 1 (1); the others are merely not shown.",
    );
    expect(headlineOf(judged, 3)).toMatch("rests on 3 runs");
    expect(claimsTable(judged).rows.map(([id]) => id)).toEqual(["1", "2", "3"]);
  });
});

describe("results", () => {
  it("are read at a round, between shares of a run, and by attributes", async () => {
    const results = resultsOf(await newBench(), [
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

describe("figures", () => {
  const small = async () => {
    const runs = [runValue(100, () => 0.5), runValue(100, () => 0.6)];
    const results = resultsOf(await newBench(), [
      { curve: {}, runs },
      { curve: { voteScale: 1 }, runs },
      {
        curve: { name: "joust", policy: "joust", group: "baseline", voteScale: 1 },
        runs: [runValue(100, () => 0.1)],
      },
    ]);
    return results;
  };

  it("have a panel for each vote scale, every curve's name, and the same bytes again", async () => {
    const results = await small();
    const exhibit = curvesExhibit({
      id: "a",
      title: "A",
      caption: "",
      curves: results.bench.curves,
    });
    const drawing = exhibit.draw(results);
    const svg = drawing.kind === "figure" ? drawing.svg : "";
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    for (const text of ["vote scale 10", "vote scale 1<", "joust 10.0", `${CURVE.name} 55.0`]) {
      expect(svg).toContain(text);
    }
    expect(exhibit.draw(results)).toEqual(drawing);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("of maps, radars and points are whole", () => {
    const rows = ["a", "b"];
    const map = {
      title: "one",
      note: "n",
      rows,
      columns: rows,
      values: [
        [1, -0.001],
        [0.5, Number.NaN],
      ],
    };
    const svg = heatMapsSvg("maps", [map, { ...map, title: "two" }]);
    expect(svg.match(/>0\.00</g)).toHaveLength(2); // no minus zero
    const radar = radarSvg({
      title: "r",
      axes: ["x", "y", "z"],
      models: [{ name: "m", values: [1, 0, 0.5] }],
    });
    const points = pointsSvg("p", {
      panels: [
        {
          title: "t",
          points: [
            [0, 1, 2],
            [3, -1, 0],
          ],
          category: [0, 1],
        },
      ],
      categories: rows,
      colors: ["#111111", "#222222"],
    });
    for (const text of [svg, radar, points]) expect(text).not.toMatch(/NaN|undefined/);
    expect(points.match(/<circle/g)).toHaveLength(2 + 2);
  });

  it("tables have one row a curve; a baseline says on which vectors", async () => {
    const results = await small();
    const { curves } = results.bench;
    const drawing = finalTable("t", "T", {
      curves: [...curves, ...curves],
      rounds: [50, 100],
    }).draw(results);
    if (drawing.kind !== "table") throw new Error("not a table");
    expect(drawing.table.rows).toHaveLength(3);
    expect(drawing.table.rows[2]![0]).toBe("joust on MiniLM_E4");
    expect(drawing.table.rows[0]![3]).toMatchObject({ mean: expect.closeTo(27.5, 9) });
  });
});

describe("the paper's tables", () => {
  it("weighting: the 70 cells and masks of its first table, but the one it prints wrong", async () => {
    const { routerbench, paths } = await findDataSets(undefined);
    if ("missing" in routerbench) throw new Error(routerbench.missing);
    const scores = await openScores(paths[routerbench.scores.sha256]!);
    expect(scores.models).toHaveLength(11);
    const exhibit = weightingTable(without(scores, ["gpt-4"]));
    expect(exhibit.caption).toContain("would add gpt-3.5 on mt-bench");
    const drawing = exhibit.draw(resultsOf(await newBench(), []));
    if (drawing.kind !== "table") throw new Error("not a table");
    const row = drawing.table.rows.find(([model]) => model === "yi-34b")!;
    // The paper's row of Yi 34B.
    expect(row.slice(1, 10).join(" ")).toBe("0.727 0.727 1 0.937 0.937 1 0.331 0 0");
  });
});

describe("data sets", () => {
  it("without a folder are the project's own, and say so", async () => {
    const { mmlu, routerbench, mixinstruct } = await findDataSets(undefined);
    for (const one of [mmlu, mixinstruct])
      expect(one).toMatchObject({ note: expect.stringMatching(/own/) });
    expect(routerbench).toMatchObject({ forms: [{ name: "own" }] });
  });

  it("that are not in the folder are missing, by name; a folder that is not there is refused", async () => {
    const { mmlu, routerbench, mixinstruct } = await findDataSets(newFolder());
    expect(mmlu).toEqual({ missing: "no *_test.csv and *_dev.csv in mmlu/ of the data folder" });
    for (const one of [routerbench, mixinstruct]) expect(one).toHaveProperty("missing");
    await expect(findDataSets("/nowhere")).rejects.toThrow(InputError);
  });
});

describe("encoders", () => {
  it("that are here run, the paper's others are rows that say why not", async () => {
    const { here, absent } = await findEncoders(undefined, PLACES);
    expect(here.map(({ name, epochs }) => [name, epochs])).toEqual([["static", [10]]]);
    expect(absent.map(({ name }) => name)).toEqual(["MiniLM", "mpnet", "e5b", "OpenAItext"]);
    for (const { reason } of absent) expect(reason).not.toBe("");
    await expect(findEncoders(["e5b"], PLACES)).rejects.toThrow(InputError);
  });
});

describe("what is written", () => {
  const reproduced = async () => {
    const runs = [runValue(100, () => 0.5), runValue(100, () => 0.6)];
    const results = resultsOf(await newBench(), [{ curve: {}, runs }]);
    const { bench } = results;
    const exhibits = [
      curvesExhibit({ id: "curves", title: "<A>", caption: "c", curves: bench.curves }),
      finalTable("table", "T", { curves: bench.curves, rounds: [] }),
    ];
    const experiment = { name: "routerbench", title: "RouterBench", plan: () => Promise.reject() };
    return {
      bench,
      results,
      parts: [{ experiment, notes: ["a <note>"], exhibits }],
      claims: [],
      judged: [],
    };
  };
  const recordFor = async () =>
    recordOf(await reproduced(), {
      command: "joust reproduce all",
      encoders: { here: [], absent: [{ name: "e5b", reason: "is not here" }] },
      version: "1",
    });

  it("is a page that needs nothing else, and figures, tables and the record beside it", async () => {
    const folder = join(newFolder(), "out");
    await writeReproduction(folder, await reproduced(), await recordFor());
    const page = readFileSync(join(folder, "report.html"), "utf8");
    expect(page).not.toMatch(/(src|href)="https?:|@import|url\(/);
    expect(page).toContain("a &#60;note&#62;");
    expect(page).toContain("not run: is not here");
    // How each curve was made, and the command that makes it again.
    expect(page).toContain("100 vectors and 2 models on the sphere of R^2");
    expect(page).toContain(`joust reproduce routerbench --curve &#34;${CURVE.name}&#34;`);
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
    // A second time over it, with what was drawn before and is no more.
    writeFileSync(join(folder, "figures", "old.svg"), "");
    await writeReproduction(folder, await reproduced(), await recordFor());
    expect(await readdir(join(folder, "figures"))).toEqual(["curves.svg"]);
  });

  it("never goes over what was not made here", async () => {
    const folder = newFolder();
    await refuseForeign(folder);
    writeFileSync(join(folder, "thesis.tex"), "");
    await expect(refuseForeign(folder)).rejects.toThrow(/thesis.tex/);
    writeFileSync(join(folder, "reproduce.json"), "{}");
    await refuseForeign(folder);
    await refuseForeign(join(folder, "new"));
  });
});
