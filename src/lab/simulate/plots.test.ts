import { Resvg } from "@resvg/resvg-js";
import { DOMParser } from "linkedom";
import { describe, expect, test } from "vitest";
import { Random } from "../../core/random/random.ts";
import { DARK_CSS, type Picture, svgFile, textWidth } from "../report/svg.ts";
import { paretoFront, paretoPicture, regretPicture } from "./plots.ts";
import type { Result } from "./result.ts";
import { type Sample, sampleResult, TWENTY } from "./sample.case.ts";

const fileOf = (picture: Picture) => svgFile(picture.title, [picture]);
const regretSvg = (result: Result) => fileOf(regretPicture(result));
const paretoSvg = (result: Result) => {
  const picture = paretoPicture(result);
  return picture && fileOf(picture);
};

const { joust, random, ...rest } = TWENTY;
const EMPTY = { t: [], mean: [], lo: [], hi: [] };

const SAMPLES: Readonly<Record<string, Sample>> = {
  "five policies": {
    regrets: { joust: 11, "fgts-cdb": 44, random: 107, "best-fixed": 39, "zero-feedback": 14 },
  },
  "twenty policies": { regrets: TWENTY },
  "twenty alike": { regrets: Object.fromEntries(Object.keys(TWENTY).map((name) => [name, 30])) },
  "a wide range": { regrets: { joust: joust!, random: 6000, ...rest, mixllm: 4000 }, rounds: 3000 },
  "negative regrets": { regrets: { joust: -12, "best-fixed": 0, random: 30 } },
  "all negative": { regrets: { joust: -12, random: -3 } },
  "one run": { regrets: { joust: 11, random: random! }, runs: 1 },
  "one round": { regrets: { joust: 0.1, random: 0.5 }, rounds: 1 },
  "no regret": { regrets: { oracle: 0 } },
  "long names": {
    regrets: { "fgts-cdb:weighting=perf:sd=2": 40, [`./mine/${"very-".repeat(20)}long.ts`]: 41 },
  },
  "forty policies": {
    regrets: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`joust:alpha=${i}`, i])),
  },
};

describe.each(Object.entries(SAMPLES))("%s", (_, sample) => {
  const result = sampleResult(sample, Random.seeded(7));
  const svg = regretSvg(result);

  test("the same result gives the same bytes", () => {
    expect(regretSvg(result)).toBe(svg);
    expect(paretoSvg(result)).toBe(paretoSvg(result));
  });

  test("every policy is named once at the right, and names neither overlap nor are cut off", () => {
    const labels = labelsOf(svg);
    expect(labels.map(({ name }) => name).sort()).toEqual(Object.keys(result.policies).sort());
    labels.sort((a, b) => a.y - b.y);
    for (const [i, label] of labels.slice(1).entries()) {
      const above = labels[i]!;
      expect(label.y - above.y).toBeGreaterThanOrEqual((label.size + above.size) / 2);
    }
    const { width, height } = sizeOf(svg);
    for (const { text, x, y, size } of labels) {
      expect(x + textWidth(text, size)).toBeLessThanOrEqual(width);
      expect(y - size / 2).toBeGreaterThan(0);
      expect(y + size / 2).toBeLessThan(height);
    }
  });

  test("the file needs no other: it has a namespace, a style sheet for the dark only, no reference, no NaN, and resvg draws it", () => {
    for (const figure of [svg, paretoSvg(result)!]) {
      expect(figure).toContain('xmlns="http://www.w3.org/2000/svg"');
      expect(figure.match(/<style>(.*?)<\/style>/)![1]).toBe(DARK_CSS);
      expect(figure).not.toMatch(/href|url\(|NaN|Infinity|undefined|<script/);
      expect(
        new Resvg(figure, { font: { loadSystemFonts: false } }).render().width,
      ).toBeGreaterThan(600);
    }
  });
});

test("the better curve has the lower end, and its label stands no higher", () => {
  const labels = labelsOf(regretSvg(sampleResult({ regrets: TWENTY }, Random.seeded(7))));
  const y = Object.fromEntries(labels.map((label) => [label.name, label.y]));
  expect(y.oracle).toBeGreaterThan(y.joust!);
  expect(y.joust).toBeGreaterThan(y["fgts-cdb"]!);
  expect(y["fgts-cdb"]).toBeGreaterThan(y.random!);
});

describe("bands", () => {
  const areas = (svg: string) => svg.match(/class="band"/g)?.length ?? 0;

  test("one for each highlighted policy of several runs, none of one run", () => {
    const regrets = TWENTY;
    expect(areas(regretSvg(sampleResult({ regrets }, Random.seeded(1))))).toBe(8);
    expect(areas(regretSvg(sampleResult({ regrets, runs: 1 }, Random.seeded(1))))).toBe(0);
  });

  test("none if a file has null for a bound", () => {
    const result = sampleResult({ regrets: { joust: 3 }, runs: 1 }, Random.seeded(1));
    const read = JSON.parse(JSON.stringify(result)) as Result;
    expect(read.policies.joust!.curve.lo[0]).toBeNull();
    expect(areas(regretSvg(read))).toBe(0);
    expect(paretoSvg(read)).not.toContain("NaN");
  });
});

describe("zero length", () => {
  test("no policies, and policies without rounds", () => {
    const none: Result = { schema: 1, settings: {}, policies: {} };
    expect(regretSvg(none)).toContain("No rounds to show");
    expect(paretoSvg(none)).toBeUndefined();
    const sample = sampleResult({ regrets: { joust: 1 } }, Random.seeded(1)).policies.joust!;
    const regret = { mean: Number.NaN, lo: Number.NaN, hi: Number.NaN, runs: [] };
    const empty = { ...none, policies: { joust: { ...sample, curve: EMPTY, regret } } };
    expect(regretSvg(empty)).toContain("No rounds to show");
    expect(paretoSvg(empty)).toBeUndefined();
  });
});

test("names are escaped in the figures", () => {
  const result = sampleResult({ regrets: { '<script>"&': 3, joust: 1 } }, Random.seeded(1));
  expect(regretSvg(result)).not.toContain("<script");
  expect(paretoSvg(result)).not.toContain("<script");
  expect(labelsOf(regretSvg(result)).map(({ name }) => name)).toContain('<script>"&');
});

test("a curve far above the others is cut, and its label says so", () => {
  const sample = SAMPLES["a wide range"]!;
  const labels = labelsOf(regretSvg(sampleResult(sample, Random.seeded(7))));
  const off = labels.filter(({ text }) => text.endsWith("(off scale)")).map(({ name }) => name);
  expect(off.sort()).toEqual(["mixllm", "random"]);
  expect(labels.sort((a, b) => a.y - b.y)[0]!.name).toBe("random");
});

describe("Pareto", () => {
  test("nothing without costs", () => {
    const result = sampleResult({ regrets: TWENTY, costs: false }, Random.seeded(1));
    expect(paretoSvg(result)).toBeUndefined();
  });

  test("the front holds the policies that no other equals or beats in both, and never the oracle", () => {
    const at = (name: string, cost: number, regret: number) => ({ name, cost, regret });
    const points = [
      at("cheap", 1, 9),
      at("worse", 2, 9),
      at("middle", 2, 5),
      at("twin", 2, 5),
      at("dear", 8, 1),
      at("waste", 9, 1),
      at("oracle", 0.5, 0),
    ];
    expect(paretoFront(points).map(({ name }) => name)).toEqual(["cheap", "middle", "dear"]);
  });

  test("costs of several decades are drawn on a logarithmic axis with plain ticks", () => {
    const { policies, ...rest } = sampleResult({ regrets: { a: 1, b: 2, c: 3 } }, Random.seeded(1));
    const costs = [0.0002, 0.004, 0.3];
    const spread = Object.entries(policies).map(([name, policy], i) => [
      name,
      { ...policy, costPerQuery: costs[i]! },
    ]);
    const svg = paretoSvg({ ...rest, policies: Object.fromEntries(spread) })!;
    for (const tick of ["0.001", "0.01", "0.1"]) expect(svg).toContain(`>${tick}<`);
  });
});

function labelsOf(svg: string) {
  const document = new DOMParser().parseFromString(svg, "image/svg+xml");
  return [...document.querySelectorAll("text.label")].map((element) => {
    const at = (name: string) => Number(element.getAttribute(name));
    const name = element.parentElement!.querySelector("title")!.textContent!;
    const size = at("font-size");
    return { name, text: element.textContent!, x: at("x"), y: at("y") - 0.35 * size, size };
  });
}

function sizeOf(svg: string): { width: number; height: number } {
  const [, width, height] = svg.match(/viewBox="0 0 (\d+) (\d+)"/)!;
  return { width: Number(width), height: Number(height) };
}
