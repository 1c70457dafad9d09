/** Tests the criterion of each claim on invented curves for which the verdict is known. */
import { describe, expect, it } from "vitest";
import suite from "../src/lab/experiments/index.ts";
import { evidenceOf } from "../src/lab/reproduce/claims-report.ts";
import type { Curve } from "../src/lab/reproduce/curve.ts";
import type { FoundEncoder } from "../src/lab/reproduce/encoders.ts";
import {
  MINILM,
  newPlanner,
  resultsOf,
  runValue,
  STATIC,
} from "../src/lab/reproduce/results.fixture.ts";
import type { ClaimVerdict, JudgedCell } from "../src/lab/reproduce/verdict.ts";

/** A curve whose run r has regret slope(t) + noise[r] in round t. */
function line(
  curve: Partial<Curve>,
  slope: number | ((t: number) => number),
  { rounds = 160, noise = [0, 0.001, 0.002, 0.003, 0.004], cost = 1 } = {},
) {
  const at = typeof slope === "number" ? () => slope : slope;
  return { curve, runs: noise.map((more) => runValue(rounds, (t) => at(t) + more, cost)) };
}

async function judge(
  id: number,
  curves: readonly ReturnType<typeof line>[],
  encoders: readonly FoundEncoder[] = [MINILM],
): Promise<Judged> {
  const results = resultsOf(await newPlanner(encoders), curves);
  const finding = suite.claims.find((claim) => claim.id === id)!.test(results);
  return {
    verdict: finding.standIn?.verdict ?? finding.verdict,
    evidence: evidenceOf(finding),
    cells: finding.parts.flatMap(({ cells }) => cells),
  };
}

/** A finding, whether or not stand-ins made it. */
interface Judged {
  readonly verdict: ClaimVerdict;
  readonly evidence: string;
  readonly cells: readonly JudgedCell[];
}

/** Noise of five runs with mean 0 that is not correlated with the noise of other curves. */
const WIDE = [-0.05, 0.05, 0, 0.03, -0.03];

describe("a criterion", () => {
  const unseen = (group: "exp" | "ideal", weighting: string, voteScale: number) => ({
    experiment: "unseen",
    name: `MiniLM_E4_${weighting}_${group}`,
    group,
    weighting,
    voteScale,
  });
  const worlds = ["excel_perf_cost", "excel_mask"].flatMap((weighting) =>
    [1, 3, 10].map((voteScale) => ({ weighting, voteScale })),
  );

  it("7: a bound for large T is not refuted by short runs", async () => {
    const linear = { experiment: "linear", encoder: "", form: "d = 8" };
    expect(await judge(7, [line(linear, (t) => 1 / t)])).toMatchObject({ verdict: "holds" });
    expect(await judge(7, [line(linear, 1)])).toMatchObject({
      verdict: "open",
      evidence: expect.stringMatching(/^0 of 1 cell for the claim, 1 undecided;/),
    });
  });

  it("9, 10, 29, 31: metadata is counted, votes on other utilities are not", async () => {
    const variants = ["", "metadata raw", "metadata scaled", "votes count cost", "mu=1"];
    const curves = variants.flatMap((variant) => [
      line({ variant }, 0.1),
      line({ variant, group: "ctrl", name: "MiniLM_E4_Excel_perf_cost_ctrl" }, 0.2),
    ]);
    const common = { weighting: "", variant: "" };
    curves.push(
      line({ ...common, group: "prompt", name: "MiniLM_5", examples: 5, epochs: 0 }, 0.2),
      line({ ...common, group: "baseline", name: "zero-feedback", policy: "zero-feedback" }, 0.2),
    );
    for (const id of [9, 10, 29, 31]) {
      const { cells, verdict } = await judge(id, curves);
      expect([id, cells.length, verdict]).toEqual([id, 3, "holds"]);
    }
  });

  it("11: names the encoder for which it fails, and whether the opposite is shown", async () => {
    const prompt = { group: "prompt" as const, name: "MiniLM_5", examples: 5, epochs: 0 };
    const of = (epochs: number, exp: number) => [
      line({ epochs, name: `MiniLM_E${epochs}_Excel_perf_cost_exp` }, exp),
      line({ epochs, group: "ctrl", name: `MiniLM_E${epochs}_Excel_perf_cost_ctrl` }, 0.2),
    ];
    const prompts = line({ ...prompt, weighting: "" }, 0.2);
    const both = await judge(11, [...of(2, 0.1), ...of(4, 0.1), prompts]);
    expect(both).toMatchObject({ verdict: "holds" });
    expect(await judge(11, [...of(2, 0.3), ...of(4, 0.1), prompts])).toMatchObject({
      verdict: "refuted",
      evidence: expect.stringMatching(
        /^MiniLM_E2, claim 9: 0 of 1 cell for the claim, 1 against it;.*MiniLM_E4, claim 9: 1 of 1 cell for the claim/,
      ),
    });
    expect((await judge(11, [...of(2, 0.1), ...of(4, 0.1)])).verdict).toBe("not testable here");
  });

  it("13: the lowest mean of four does not hold by chance alone", async () => {
    const four = (excel: number, noise?: number[]) => [
      ...["perf", "perf_cost"].map((weighting) => line({ weighting, name: weighting }, 0.3)),
      ...["excel_perf_cost", "excel_mask"].map((weighting, i) =>
        line({ weighting, name: weighting }, excel + i / 100, noise ? { noise } : {}),
      ),
    ];
    expect((await judge(13, four(0.2))).verdict).toBe("holds");
    expect(await judge(13, four(0.29, WIDE))).toMatchObject({ verdict: "open" });
    const [cell, ...others] = (await judge(13, four(0.4))).cells;
    expect(others).toEqual([]);
    expect(cell!.label).toMatch(/^excel_perf_cost .* against perf$/);
    expect((await judge(13, four(0.4))).verdict).toBe("refuted");
  });

  it("14: e5b_E2 is another encoder too", async () => {
    const e5b = { ...MINILM, name: "e5b" };
    const tuned = (encoder: string, epochs: number, slope: number) =>
      line({ encoder, epochs, name: `${encoder}_E${epochs}` }, slope);
    const curves = [tuned("e5b", 4, 0.2), tuned("e5b", 2, 0.1), tuned("MiniLM", 4, 0.3)];
    const { verdict, cells } = await judge(14, curves, [MINILM, e5b]);
    expect([verdict, cells.length]).toEqual(["open", 2]);
  });

  it("15, 30: costs are compared over the same rounds, if there are any", async () => {
    const dear = { variant: "lambda=0", name: "dear" };
    const thrifty = { variant: "lambda=0.2", name: "thrifty" };
    const cheap = { cost: 0.5 };
    const found = await judge(15, [line(dear, 0.1), line(thrifty, 0.1, cheap)]);
    expect(found.verdict).toBe("holds");
    const longer = { ...cheap, rounds: 320 };
    const apart = await judge(15, [line(dear, 0.1), line(thrifty, 0.1, longer)]);
    expect(apart.verdict).toBe("not testable here");
    const free = line({ weighting: "perf", name: "perf" }, 0.1);
    const unpriced = { ...free, runs: free.runs.map((run) => ({ ...run, cost: null })) };
    expect((await judge(30, [line({}, 0.1, cheap), free])).verdict).toBe("holds");
    expect((await judge(30, [line({}, 0.1, cheap), unpriced])).verdict).toBe("not testable here");
  });

  it("17: the curves with most runs show whether curves converge", async () => {
    const falling = (t: number) => 0.3 / Math.sqrt(t);
    const experiment = "convergence";
    const fixed = {
      policy: "best-fixed",
      group: "baseline",
      name: "best-fixed",
      epochs: 0,
    } as const;
    const { verdict, cells } = await judge(17, [
      line({ experiment }, falling),
      line({ ...fixed, experiment }, 0.1),
      line({}, 0.2),
      line(fixed, 0.1),
    ]);
    expect([verdict, cells.length]).toEqual(["holds", 2]);
  });

  it('20: a difference by chance does not disprove "always", a clear exception does', async () => {
    /** Judges slopes of exp in the first setting and in the others. The slope of ideal is 0.2. */
    const against = (first: number, others: number, options = {}) =>
      judge(
        20,
        worlds.flatMap(({ weighting, voteScale }, i) => [
          line(unseen("exp", weighting, voteScale), i === 0 ? first : others, options),
          line(unseen("ideal", weighting, voteScale), 0.2),
        ]),
      );
    const open = { verdict: "open" };
    // The cells differ by chance alone.
    expect(await against(0.2, 0.2, { noise: WIDE })).toMatchObject(open);
    // One cell of six differs by more than chance, but not after the correction for six
    // comparisons.
    const close = await against(0.14, 0.2, { noise: WIDE });
    expect(close.cells.filter(({ side }) => side === "for")).toHaveLength(1);
    expect(close).toMatchObject(open);
    // One cell of six is a clear exception.
    expect(await against(0.1, 0.3)).toMatchObject({ verdict: "holds" });
    expect(await against(0.3, 0.3)).toMatchObject({ verdict: "refuted" });
  });

  it("21: falling regret is not enough if a router that knew ARC has far less", async () => {
    const falling = (level: number) => (t: number) => level * (1 - t / 320);
    const of = (ideal: number) =>
      worlds.flatMap(({ weighting, voteScale }) => [
        line(unseen("exp", weighting, voteScale), falling(0.2)),
        line(unseen("ideal", weighting, voteScale), falling(ideal)),
      ]);
    expect((await judge(21, of(0.2))).verdict).toBe("holds");
    expect(await judge(21, of(0.1))).toMatchObject({ verdict: "refuted" });
  });

  describe("24", () => {
    const drops = (
      slope: (dropped: number) => (t: number) => number,
      random: (dropped: number) => number,
    ) =>
      [8, 15].flatMap((dropped) => {
        const form = `all, ${dropped}% dropped`;
        const world = { experiment: "mixinstruct", form, weighting: "labels" };
        const baseline = {
          group: "baseline",
          policy: "random",
          name: "random",
          epochs: 0,
        } as const;
        const size = { rounds: dropped === 8 ? 200 : 100 };
        return [
          line({ ...world, name: `MiniLM_E4_Labels_exp_${dropped}` }, slope(dropped), size),
          line({ ...world, ...baseline }, random(dropped), size),
        ];
      });

    it("a shorter curve is not worse because of its length", async () => {
      // The same falling curve has fewer rounds if more is dropped.
      const same = drops(
        () => (t) => 1 / Math.sqrt(t),
        () => 1,
      );
      expect((await judge(24, same)).verdict).toBe("open");
      const worse = drops(
        (dropped) => (t) => dropped / 10 / Math.sqrt(t),
        () => 1,
      );
      expect((await judge(24, worse)).verdict).toBe("holds");
    });

    it("a curve is not worse because its queries have larger differences of utility", async () => {
      const more = drops(
        (dropped) => () => dropped / 100,
        (dropped) => dropped / 20,
      );
      const { verdict, evidence } = await judge(24, more);
      expect(verdict).toBe("refuted");
      expect(evidence).toMatch(
        /^\(a\): 1 of 1 cell for the claim;.*\(b\): 0 of 1 cell for the claim/,
      );
    });
  });

  it("25: convergence is compared over the same rounds", async () => {
    const prompt = { group: "prompt", name: "MiniLM_5", examples: 5, weighting: "" } as const;
    const mix = { experiment: "mixinstruct", weighting: "labels" };
    const long = { rounds: 1000 };
    const { verdict, evidence } = await judge(25, [
      line({}, 0.2, { rounds: 300 }),
      // Worse over the common rounds, and better long after.
      line(prompt, (t) => (t <= 300 ? 0.3 : 0.1), long),
      line(mix, 0.2),
      line({ ...prompt, ...mix, weighting: "" }, 0.3),
    ]);
    expect(evidence).toContain("RouterBench, convergence: 1 of 1 cell for the claim");
    expect(verdict).toBe("holds");
  });

  it("26: a router that never learns does not adapt", async () => {
    const curve = { experiment: "unseen", group: "ctrl", name: "FGTS.CDB" } as const;
    const of = (slope: (t: number) => number, fresh: number) => [
      line({ ...curve, variant: "change" }, slope, { rounds: 200 }),
      line({ ...curve, variant: "restart" }, fresh, { rounds: 100 }),
    ];
    const never = of(() => 0.3, 0.3);
    expect((await judge(26, never)).verdict).toBe("open");
    const adapts = of((t) => (t <= 100 ? 0.3 : 0.6 - 0.5 * ((t - 100) / 100)), 0.35);
    expect((await judge(26, adapts)).verdict).toBe("holds");
  });

  it("27: one weight of the feel-good term is enough; refuted if each increases regret", async () => {
    const of = (theory: number, tenth: number, one: number) => [
      line({ variant: "mu=0", name: "mu=0" }, 0.2),
      line({}, theory),
      line({ variant: "mu=0.1", name: "mu=0.1" }, tenth),
      line({ variant: "mu=1", name: "mu=1" }, one),
    ];
    expect((await judge(27, of(0.2, 0.1, 0.3))).verdict).toBe("holds");
    expect(await judge(27, of(0.2, 0.3, 0.3))).toMatchObject({ verdict: "open" });
    expect(await judge(27, of(0.3, 0.3, 0.3))).toMatchObject({ verdict: "refuted" });
  });

  it("needs no fine-tuned encoder if the paper fine-tunes none", async () => {
    const openai = { ...STATIC, name: "OpenAItext", epochs: [] };
    const mmlu = { experiment: "mmlu", group: "ctrl", weighting: "means", epochs: 0 } as const;
    const own = line({ ...mmlu, encoder: "OpenAItext", name: "OpenAItext_mean" }, 0.2);
    const other = line({ ...mmlu, encoder: "static", name: "static_mean" }, 0.2);
    const { verdict, evidence, cells } = await judge(1, [own, other], [openai, STATIC]);
    expect([verdict, cells.length]).toEqual(["holds", 1]);
    expect(evidence).not.toContain("in its place");
  });
});
