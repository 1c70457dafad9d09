import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StaticEncoder } from "../encoder/static/static-encoder.ts";
import { smallTable } from "../encoder/static/static-table.fixture.ts";
import { vectorOf } from "../encoder/static/static-table.ts";
import { errorText } from "../errors/error-text.fixture.ts";
import { dot, norm } from "../linalg/linalg.ts";
import { Random } from "../random/random.ts";
import { fineTuneStatic, TrainableRows } from "./fine-tune-static.ts";
import { batchesOf, pairsOf } from "./pairs.ts";

const TABLE = smallTable(8);
const TEXTS = ["the cat sat", "the cat on the mat", "cats?", "a b, c", "a b 1", "dog b. 2"];
const PAIRS = pairsOf([0, 0, 0, 1, 1, 1], Random.seeded(1));

function train(seed = 1, epochs = 20, texts = TEXTS) {
  const batches = Array.from({ length: epochs }, (_, n) =>
    batchesOf(PAIRS, 4, Random.seeded(seed).split(n)),
  ).flat();
  return fineTuneStatic({ table: TABLE, texts, batches, learningRate: 0.01 });
}

it("the gradient matches finite differences for every row", () => {
  const rows = new TrainableRows(TABLE, TEXTS);
  const { gradient } = rows.loss(PAIRS);
  const h = 1e-6;
  for (let i = 0; i < rows.values.length; i++) {
    const value = rows.values[i]!;
    rows.values[i] = value + h;
    const up = rows.loss(PAIRS).loss;
    rows.values[i] = value - h;
    const down = rows.loss(PAIRS).loss;
    rows.values[i] = value;
    expect(gradient[i]).toBeCloseTo((up - down) / (2 * h), 8);
  }
});

it("the loss is the mean squared difference between the label and the cosine of the embeddings", () => {
  const encoder = new StaticEncoder(TABLE);
  const cosine = (a: number, b: number) =>
    dot(encoder.encodeText(TEXTS[a]!), encoder.encodeText(TEXTS[b]!));
  const rows = new TrainableRows(TABLE, TEXTS);
  const expected = PAIRS.map(({ a, b, label }) => (cosine(a, b) - label) ** 2);
  const mean = expected.reduce((sum, one) => sum + one, 0) / PAIRS.length;
  expect(rows.loss(PAIRS).loss).toBeCloseTo(mean, 12);
  for (const [i, pair] of PAIRS.entries()) {
    expect(rows.loss([pair]).loss).toBeCloseTo(expected[i]!, 12);
  }
});

const { table, losses } = await train();

describe("training", () => {
  it("lowers the loss and moves queries of a category together", () => {
    const last = losses.slice(-3).reduce((sum, loss) => sum + loss, 0) / 3;
    expect(last).toBeLessThan(0.3 * losses[0]!);
    const before = new StaticEncoder(TABLE);
    const after = new StaticEncoder(table);
    const cosine = (encoder: StaticEncoder, a: number, b: number) =>
      dot(encoder.encodeText(TEXTS[a]!), encoder.encodeText(TEXTS[b]!));
    for (const { a, b, label } of PAIRS) {
      const [old, now] = [cosine(before, a, b), cosine(after, a, b)];
      expect(Math.abs(now - label)).toBeLessThan(Math.max(0.35, Math.abs(old - label)));
    }
  });

  it("changes neither tokens that do not occur nor the given table", () => {
    expect(TABLE).toEqual(smallTable(8));
    const used = new Set(
      TEXTS.flatMap((text) => [...new StaticEncoder(TABLE).distinctTokens(text)]),
    );
    for (const token of TABLE.tokenizer.tokens.keys()) {
      const same = norm(vectorOf(table, token).map((v, i) => v - vectorOf(TABLE, token)[i]!)) === 0;
      expect(same).toBe(!used.has(token));
    }
  });

  it("gives the same bits for the same batches, and different ones for others", async () => {
    expect(await train()).toEqual({ table, losses });
    expect((await train(2)).table).not.toEqual(table);
  });

  it("reports every step, and can be stopped after one", async () => {
    const steps: number[] = [];
    const batches = batchesOf(PAIRS, 4, Random.seeded(1));
    const training = {
      ...{ table: TABLE, texts: TEXTS, batches, learningRate: 0.01 },
      onStep: ({ step, steps: all }: { step: number; steps: number }) => steps.push(step / all),
    };
    await fineTuneStatic(training);
    expect(steps).toEqual(batches.map((_, i) => (i + 1) / batches.length));
    steps.length = 0;
    const stopped = fineTuneStatic({ ...training, signal: AbortSignal.abort() });
    await expect(stopped).rejects.toThrow(/abort/i);
    expect(steps.length).toBe(1);
  });

  it("accepts a text without tokens", async () => {
    const { losses } = await train(1, 3, ["", ...TEXTS.slice(1)]);
    expect(losses.every(Number.isFinite)).toBe(true);
  });

  it("stops if the loss is not a number", async () => {
    const batches = batchesOf(PAIRS, 4, Random.seeded(1));
    const wild = fineTuneStatic({
      table: TABLE,
      texts: TEXTS,
      batches,
      learningRate: Number.POSITIVE_INFINITY,
    });
    await expect(wild).rejects.toThrow(errorText(/give a smaller learning rate/));
  });
});

it("rounding the rows to 8 bits does not change the direction of any text", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e6 }), (seed) => {
      const rows = new TrainableRows(smallTable(256, seed), TEXTS);
      const random = Random.seeded(seed);
      for (let i = 0; i < rows.values.length; i++) rows.values[i]! += 0.1 * random.normal();
      const rounded = new TrainableRows(rows.intoTable(smallTable(256, seed)), TEXTS);
      for (let start = 0; start < rows.values.length; start += 256) {
        const [x, y] = [rows, rounded].map(({ values }) => values.subarray(start, start + 256));
        expect(dot(x!, y!) / (norm(x!) * norm(y!))).toBeGreaterThan(0.9999);
      }
    }),
    { seed: 1, numRuns: 20 },
  );
});
