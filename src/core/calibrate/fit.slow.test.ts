import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openEncoder } from "../encoder/open-encoder.ts";
import { temporaryModels, tinyModel } from "../encoder/transformer/model/tiny-model.fixture.ts";
import { errorText } from "../errors/error-text.fixture.ts";
import { type BundleSettings, readBundle } from "./bundle.ts";
import { openEncoderOrBundle } from "./bundle-encoder.ts";
import type { OfflineQueries } from "./calibrate.ts";
import { type FitOptions, fitBundle } from "./fit.ts";

const models = temporaryModels();
const root = mkdtempSync(join(tmpdir(), "joust-fit-"));
afterAll(() => rm(root, { recursive: true }));
let count = 0;
const newPlace = () => join(root, `bundle-${count++}`);

const at = (...numbers: number[]) => Float64Array.from(numbers);
const OFFLINE: OfflineQueries = {
  ids: ["p", "q", "r", "s", "t", "u"],
  texts: ["the cat", "a cat sat", "cats.", "on the mat?", "mats on a mat", "on mats"],
  categories: [0, 0, 0, 1, 1, 1],
  categoryNames: ["cats", "mats"],
  models: ["a", "b"],
  best: [[0], [0], [0], [1], [1], [1]],
  scores: [at(0.9, 0.2), at(0.4, 0.8)],
};
const HELD_OUT = { texts: ["a cat", "the mat"], categories: [0, 1] };
const SETTINGS: BundleSettings = {
  weighting: "perf",
  tau: 2,
  lambda: 0,
  temperature: 1,
  epochs: 3,
  batch: 4,
  learningRate: 1e-3,
  seed: 1,
};
const tiny = models(tinyModel("bert"), "tiny");

async function run(options: FitOptions, settings: Partial<BundleSettings> = {}, base = tiny) {
  const encoder = await openEncoder(base);
  try {
    return await fitBundle(
      {
        offline: OFFLINE,
        heldOut: HELD_OUT,
        encoder,
        settings: { ...SETTINGS, ...settings },
        version: "0.1.0",
        sources: {},
      },
      options,
    );
  } finally {
    await encoder.close();
  }
}

describe("fitBundle on a transformer", () => {
  it("trains it, stores it in the bundle, and leaves no temporary files", async () => {
    const out = newPlace();
    const steps: number[] = [];
    const contents = await run({ out, onStep: ({ step, steps: of }) => steps.push(step / of) });
    expect(contents.name).toBe("tiny_E3_Perf_exp");
    expect(contents.measured.losses.length).toBe(3);
    expect(contents.measured.losses[2]).toBeLessThan(contents.measured.losses[0]!);
    // 6 pairs within categories and 6 across, 4 pairs per step.
    expect(steps).toEqual(Array.from({ length: 9 }, (_, i) => (i + 1) / 9));
    const { files, ...read } = await readBundle(out);
    expect(read).toEqual(contents);
    expect(files).toHaveProperty(["encoder/model.safetensors"]);
    expect(existsSync(`${out}.fit`)).toBe(false);

    const { encoder, bundle } = await openEncoderOrBundle(out, undefined);
    const vectors = await encoder.encode(OFFLINE.texts.slice(0, 3));
    await encoder.close();
    expect(encoder.name).toBe("tiny");
    const mean = vectors[0]!.map((_, i) => vectors.reduce((sum, x) => sum + x[i]!, 0) / 3);
    mean.forEach((value, i) => {
      expect(bundle!.categories[0]!.xi[i]).toBeCloseTo(value, 6);
    });
  });

  it("gives the same bundle when repeated, and when stopped and resumed", async () => {
    const [out, other] = [newPlace(), newPlace()];
    await run({ out });
    const stop = new AbortController();
    const onStep = ({ step }: { step: number }) => {
      if (step === 4) stop.abort();
    };
    const stopped = run({ out: other, onStep, signal: stop.signal });
    await expect(stopped).rejects.toThrow(/abort/i);
    expect(existsSync(other)).toBe(false);
    expect(existsSync(`${other}.fit`)).toBe(true);

    await expect(run({ out: other })).rejects.toThrow(
      errorText(/holds a fit that was stopped; hint: add --r/),
    );
    await expect(run({ out: other, resume: true }, { epochs: 2 })).rejects.toThrow(
      errorText(/"epochs": was 3 in the stopped fit and is now 2/),
    );
    const rest: number[] = [];
    await run({ out: other, resume: true, onStep: ({ step }) => rest.push(step) });
    expect(rest).toEqual([5, 6, 7, 8, 9]);
    expect(existsSync(`${other}.fit`)).toBe(false);
    const text = (folder: string) => readFileSync(join(folder, "bundle.json"), "utf8");
    expect(text(other)).toBe(text(out));
  });

  it("writes no bundle if the training diverges", async () => {
    const out = newPlace();
    const failed = run({ out }, { learningRate: 1e38 });
    await expect(failed).rejects.toThrow(errorText(/diverged.*hint: /));
    expect(existsSync(out)).toBe(false);
  });

  it("copies an encoder that only this machine has, even if it is not trained", async () => {
    const out = newPlace();
    const { encoder, name } = await run({ out }, { epochs: 0 });
    expect(name).toBe("tiny_E0_Perf_ctrl");
    expect(encoder.own).toBe(true);
    expect(readdirSync(join(out, "encoder"))).toContain("model.safetensors");
    const copy = await openEncoderOrBundle(out, undefined);
    const [x] = await copy.encoder.encode(["the cat"]);
    await copy.encoder.close();
    const original = await openEncoder(tiny);
    expect(await original.encode(["the cat"])).toEqual([x]);
    await original.close();
  });
});
