import { describe, expect, it } from "vitest";
import type { OpenEncoder } from "../encoder/open-encoder.ts";
import { errorText } from "../errors/error-text.fixture.ts";
import type { BundleSettings } from "./bundle.ts";
import { calibrate, type OfflineQueries } from "./calibrate.ts";
import type { Pair } from "./pairs.ts";

const at = (...numbers: number[]) => Float64Array.from(numbers);

/** An encoder whose embedding of "1 0 2" is `change` of the vector (1, 0, 2). */
function encoder(name: string, change: (x: Float64Array) => Float64Array = (x) => x) {
  let closed = 0;
  const self: OpenEncoder & { closed(): number } = {
    kind: "static",
    name,
    dimension: 2,
    identity: `${name}!`,
    named: true,
    encode: async (texts) => texts.map((text) => change(at(...text.split(" ").map(Number)))),
    close: async () => {
      closed++;
    },
    closed: () => closed,
  };
  return self;
}

const OFFLINE: OfflineQueries = {
  ids: ["p", "q", "r", "s"],
  texts: ["1 0", "3 0", "0 1", "0 2"],
  categories: [0, 0, 1, 1],
  categoryNames: ["x", "y"],
  models: ["a", "b"],
  best: [[0], [0, 1], [1], [1]],
  scores: [at(0.9, 0.2), at(0.4, 0.8)],
  costs: [at(1, 1), at(2, 2)],
};
const HELD_OUT = { texts: ["2 1", "1 2", "3 1", "1 0"], categories: [0, 1, 0, 1] };
const SETTINGS: BundleSettings = {
  weighting: "perf",
  tau: 3,
  lambda: 0.05,
  temperature: 1,
  epochs: 4,
  batch: 16,
  learningRate: 0.1,
  seed: 1,
};
const never = () => Promise.reject(new Error("unexpected training"));

describe("calibrate", () => {
  it("trains on the pairs and computes everything with the trained encoder", async () => {
    const base = encoder("tiny");
    const tuned = encoder("tuned", ([p, q]) => at(q!, p!));
    let trained: readonly Pair[] = [];
    const encoded: string[] = [];
    const made = await calibrate(OFFLINE, HELD_OUT, base, SETTINGS, {
      fineTune: async (pairs) => {
        trained = pairs;
        return { encoder: tuned, losses: [0.5, 0.25] };
      },
      encode: (encoder, texts) => {
        encoded.push(encoder.name);
        return encoder.encode(texts);
      },
    });
    expect(trained.filter(({ label }) => label === 1)).toEqual([
      { a: 0, b: 1, label: 1 },
      { a: 2, b: 3, label: 1 },
    ]);
    expect(trained.length).toBe(4);
    expect(made.name).toBe("tiny_E4_Perf_exp");
    expect(made.encoder).toEqual({
      kind: "static",
      name: "tiny",
      dimension: 2,
      identity: "tuned!",
      own: true,
    });
    expect(made.categories).toMatchObject([
      { name: "x", xi: at(0, 2) },
      { name: "y", xi: at(1.5, 0) },
    ]);
    // One of the held-out queries is nearest to the other category.
    expect(made.categories.map(({ confusion }) => confusion)).toEqual([
      at(0.75, 0.25),
      at(0.125, 0.875),
    ]);

    const weight = 1 / (1 + Math.exp(0.2 - 0.9));
    expect(made.models[0]!.embedding[0]).toBeCloseTo(1.5 * (1 - weight), 12);
    expect(made.models[0]!.embedding[1]).toBeCloseTo(2 * weight, 12);
    expect(made.models[1]).toMatchObject({ name: "b", scores: at(0.4, 0.8), costs: at(2, 2) });
    expect(made.offline.map(({ id, category }) => [id, category])).toEqual([
      ["p", 0],
      ["q", 0],
      ["r", 1],
      ["s", 1],
    ]);
    expect(made.measured).toEqual({
      pairs: 4,
      losses: [0.5, 0.25],
      heldOut: 4,
      before: 0.75,
      after: 0.75,
    });
    expect(encoded).toEqual(["tiny", "tuned"]);
    expect([base.closed(), tuned.closed()]).toEqual([0, 1]);
  });

  it("uses a named encoder unchanged if there are no epochs", async () => {
    const base = encoder("tiny");
    const settings = { ...SETTINGS, epochs: 0, weighting: "labels" as const };
    const made = await calibrate(OFFLINE, HELD_OUT, base, settings, { fineTune: never });
    expect(made.name).toBe("tiny_E0_Labels_ctrl");
    expect(made.encoder).toMatchObject({ identity: "tiny!", own: false });
    // "3 0" counts half, because two models are best on it.
    expect(made.models[1]!.embedding).toEqual(at(1.5 / 2.5, 3 / 2.5));
    expect(base.closed()).toBe(0);
  });

  it("copies an encoder that only this machine has", async () => {
    const base = { ...encoder("folder"), named: false };
    let received: readonly Pair[] | undefined;
    const fineTune = async (pairs: readonly Pair[]) => {
      received = pairs;
      return { encoder: encoder("copy"), losses: [] };
    };
    const settings = { ...SETTINGS, epochs: 0 };
    const made = await calibrate(OFFLINE, HELD_OUT, base, settings, { fineTune });
    expect(received).toEqual([]);
    expect(made.encoder).toMatchObject({ name: "folder", identity: "copy!", own: true });
  });

  it("measures nothing without held-out queries, and rejects NaN", async () => {
    const none = { texts: [], categories: [] };
    const settings = { ...SETTINGS, epochs: 0 };
    const made = await calibrate(OFFLINE, none, encoder("tiny"), settings, { fineTune: never });
    expect(made.measured).toMatchObject({ heldOut: 0, before: null, after: null });
    const broken = encoder("broken", () => at(Number.NaN, 0));
    const failed = calibrate(OFFLINE, none, broken, settings, { fineTune: never });
    await expect(failed).rejects.toThrow(
      errorText(/^broken: returned NaN in the embedding of query "p"; hint/),
    );
  });
});
