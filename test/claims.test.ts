import { describe, expect, it } from "vitest";
import { biasText, propositionOne } from "../src/lab/experiments/claims/proposition.ts";
import suite from "../src/lab/experiments/index.ts";
import { topSharesOf } from "../src/lab/experiments/top-shares.ts";
import { evidenceOf, verdictText } from "../src/lab/reproduce/claims-report.ts";
import {
  CURVE,
  MINILM,
  newPlanner,
  resultsOf,
  runValue,
  STATIC,
} from "../src/lab/reproduce/results.fixture.ts";
import { judgePart } from "../src/lab/reproduce/verdict.ts";

const NAMES = suite.experiments.map(({ name }) => name);

describe("the claims", () => {
  it("are numbered and have a place in the paper and a criterion", () => {
    const ids = suite.claims.map(({ id }) => id).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, i) => i + 1));
    expect(ids.length).toBeGreaterThanOrEqual(28);
    for (const { statement, criterion, place, needs } of suite.claims) {
      expect(statement).toMatch(/\.$/);
      expect(criterion).not.toBe("");
      expect(place).not.toBe("");
      for (const name of needs) expect(NAMES).toContain(name);
    }
  });

  it("9: holds if fine-tuned curves are lower run by run, and not if they are higher", async () => {
    const of = async (exp: number, ctrl: number) => {
      const runs = (slope: number) =>
        [0, 0.01, 0.02].map((more) => runValue(160, () => slope + more));
      const results = resultsOf(await newPlanner([MINILM]), [
        { curve: {}, runs: runs(exp) },
        { curve: { group: "ctrl", name: "MiniLM_E4_Excel_perf_cost_ctrl" }, runs: runs(ctrl) },
      ]);
      return suite.claims.find(({ id }) => id === 9)!.test(results);
    };
    const better = await of(0.1, 0.2);
    expect(better.verdict).toBe("holds");
    expect(evidenceOf(better)).toMatch(/^1 of 1 cell for the claim; pooled difference of regret/);
    const worse = await of(0.2, 0.1);
    expect(worse.verdict).toBe("refuted");
    expect(evidenceOf(worse)).toMatch(/1 against it/);
  });

  it("10: prompts of the curve's own encoder stand in for OpenAItext's if these are missing", async () => {
    const curves = (encoder: string, slope: number) => ({
      curve: {
        ...CURVE,
        name: `${encoder}_5`,
        encoder,
        group: "prompt" as const,
        examples: 5,
        weighting: "",
        epochs: 0,
      },
      runs: [0, 0.01].map((more) => runValue(160, () => slope + more)),
    });
    const own = { curve: {}, runs: [0, 0.01].map((more) => runValue(160, () => 0.2 + more)) };
    const ten = suite.claims.find(({ id }) => id === 10)!;
    const alone = ten.test(resultsOf(await newPlanner([MINILM]), [own, curves("MiniLM", 0.3)]));
    expect(alone).toMatchObject({
      verdict: "not testable here",
      standIn: { for: ["OpenAItext"], verdict: "holds" },
    });
    expect(verdictText(alone)).toBe("not testable here (on the stand-in: holds)");
    const openai = { ...STATIC, name: "OpenAItext", epochs: [] };
    const both = [own, curves("MiniLM", 0.3), curves("OpenAItext", 0.1)];
    const against = ten.test(resultsOf(await newPlanner([MINILM, openai]), both));
    expect(against.verdict).toBe("refuted");
    expect(against.standIn).toBeUndefined();
    expect(against.parts[0]!.cells.map(({ label }) => label)).toEqual([
      expect.stringContaining("against OpenAItext_5"),
    ]);
  });

  it("of our own are marked: the paper does not make claim 31", () => {
    const ours = suite.claims.filter((claim) => claim.ours);
    expect(ours.map(({ id, place }) => [id, place])).toEqual([[31, "not in the paper"]]);
  });

  it("about OpenAItext or MixInstruct cannot be tested without them, whatever the stand-ins show", async () => {
    const results = resultsOf(await newPlanner([MINILM]), []);
    const about = suite.claims.filter(({ statement, criterion }) =>
      /OpenAI|MixInstruct|both data sets|prompt|ambiguous|all tuned/.test(statement + criterion),
    );
    expect(about.map(({ id }) => id)).toEqual([1, 8, 10, 11, 19, 22, 23, 24, 25, 29]);
    for (const { test } of about) expect(test(results).verdict).toBe("not testable here");
  });

  it("all give a finding if nothing was run", async () => {
    const results = resultsOf(await newPlanner([STATIC]), []);
    for (const { id, test } of suite.claims) {
      if (id !== 6) expect(test(results).verdict, `claim ${id}`).toBe("not testable here");
    }
  });

  it("6: no bias at equal sizes, bias at unequal ones, and weights that remove it", () => {
    expect(judgePart(propositionOne()).verdict).toBe("holds");
    const [equal, unequal, corrected] = [...biasText().matchAll(/0\.\d{3}/g)].map(Number);
    expect(equal).toBeLessThan(0.03);
    expect(corrected).toBeLessThan(0.03);
    expect(unequal).toBeGreaterThan(0.1);
  });

  it("22: several best models of a query count in equal parts", () => {
    const query = (scores: number[]) => ({
      id: "",
      text: "",
      category: -1,
      scores: Float64Array.from(scores),
    });
    const queries = [query([1, 1, 0]), query([0, 1, 0.5])];
    expect(topSharesOf({ models: ["a", "b", "c"], categories: [], queries })).toEqual([
      { model: "b", share: 0.75 },
      { model: "a", share: 0.25 },
      { model: "c", share: 0 },
    ]);
  });
});
