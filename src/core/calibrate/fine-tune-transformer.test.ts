import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { InputError } from "../input/input-error.ts";
import {
  fineTuneTransformer,
  schedule,
  type TrainedTransformer,
  type TransformerTraining,
} from "./fine-tune-transformer.ts";
import { EPOCHS, startingWeights, TINY_TRAINING } from "./tiny-training.fixture.ts";

const { model: MODEL, texts: TEXTS, batches: BATCHES } = TINY_TRAINING;
const train = (more: Partial<TransformerTraining> = {}) =>
  fineTuneTransformer({ ...TINY_TRAINING, ...more });

let once: Promise<TrainedTransformer> | undefined;
const undisturbed = () => {
  once ??= train();
  return once;
};

describe("fineTuneTransformer", () => {
  it("learns the pairs, reports progress, and does not change its arguments", async () => {
    const before = [...MODEL.weights.values()].map(({ data }) => data.slice());
    const steps: number[] = [];
    const { losses, weights } = await train({
      onStep: ({ step, steps: all, loss, millisecondsLeft }) => {
        steps.push(step);
        expect(all).toBe(BATCHES.length);
        expect(loss).toBeGreaterThan(0);
        expect(millisecondsLeft >= 0).toBe(true);
      },
    });
    expect(steps).toEqual(BATCHES.map((_, i) => i + 1));
    const perEpoch = BATCHES.length / EPOCHS;
    expect(mean(losses.slice(-perEpoch))).toBeLessThan(mean(losses.slice(0, perEpoch)) / 3);
    expect([...MODEL.weights.values()].map(({ data }) => data)).toEqual(before);
    expect([...weights.keys()].sort()).toEqual([...MODEL.weights.keys()].sort());
  });

  it("resumes after a stop and ends with the same bits as without a stop", async () => {
    for (const stop of [1, 6]) {
      const checkpoints = newFolder();
      await expect(stoppedAfter(stop, { checkpoints })).rejects.toThrow("enough");
      const steps: number[] = [];
      const resumed = await train({ checkpoints, onStep: ({ step }) => void steps.push(step) });
      expect(steps[0]).toBe(stop + 1);
      expectSame(resumed, await undisturbed());
    }
  });

  it("resumes from the last complete checkpoint after a kill during a write", async () => {
    const checkpoints = newFolder();
    await expect(stoppedAfter(5, { checkpoints })).rejects.toThrow("enough");
    expect(readdirSync(checkpoints)).toEqual(["checkpoint.json", "state-5.safetensors"]);
    writeFileSync(join(checkpoints, "state-6.safetensors"), "half of i");
    writeFileSync(join(checkpoints, "checkpoint.json.tmp"), '{"plan');
    expectSame(await train({ checkpoints, checkpointEvery: 0 }), await undisturbed());
  });

  it("stops if the loss is not a number, and keeps the last good checkpoint", async () => {
    const checkpoints = newFolder();
    await expect(stoppedAfter(1, { checkpoints, learningRate: 1e38 })).rejects.toThrow("enough");
    const before = readFileSync(join(checkpoints, "checkpoint.json"), "utf8");
    const failed = train({ checkpoints, learningRate: 1e38, checkpointEvery: 0 });
    await expect(failed).rejects.toThrow(InputError);
    await expect(failed).rejects.toThrow(
      errorText(
        /^tiny: training diverged: .* at step \d+ is not a finite number; the last checkpoint is kept in .*; hint: train with a learning rate below 1e\+38$/,
      ),
    );
    const after = JSON.parse(readFileSync(join(checkpoints, "checkpoint.json"), "utf8"));
    expect(after.losses.slice(0, 1)).toEqual(JSON.parse(before).losses);
    expect(after.losses.every(Number.isFinite)).toBe(true);
    expect(existsSync(join(checkpoints, after.tensors))).toBe(true);
  });

  it("rejects the checkpoint of another training and a damaged one", async () => {
    const checkpoints = newFolder();
    await expect(stoppedAfter(2, { checkpoints })).rejects.toThrow("enough");
    const others = [
      { learningRate: 1e-3 },
      { batches: BATCHES.slice(1) },
      { texts: TEXTS.toReversed() },
      { model: { ...MODEL, weights: startingWeights(2) } },
    ];
    for (const other of others) {
      await expect(train({ checkpoints, ...other })).rejects.toThrow(
        errorText(
          /checkpoint\.json: belongs to a training with other data or settings; hint: give another folder/,
        ),
      );
    }
    const [, tensors] = readdirSync(checkpoints);
    const bytes = readFileSync(join(checkpoints, tensors!));
    writeFileSync(join(checkpoints, tensors!), bytes.subarray(0, bytes.length - 100));
    await expect(train({ checkpoints })).rejects.toThrow(InputError);
  });
});

describe("schedule", () => {
  it("rises over the first tenth of the steps, then falls to 0", () => {
    const shares = (steps: number) => Array.from({ length: steps }, (_, i) => schedule(i, steps));
    expect(shares(5)).toEqual([0, 1, 0.75, 0.5, 0.25]);
    expect(shares(36).slice(0, 6)).toEqual([0, 0.25, 0.5, 0.75, 1, 31 / 32]);
    expect(schedule(36, 36)).toBe(0);
  });
});

function stoppedAfter(stop: number, more: Partial<TransformerTraining>) {
  const controller = new AbortController();
  return train({
    ...more,
    signal: controller.signal,
    onStep: ({ step }) => {
      if (step === stop) controller.abort(new Error("enough"));
    },
  });
}

function expectSame(a: TrainedTransformer, b: TrainedTransformer): void {
  expect(a.losses).toEqual(b.losses);
  for (const [name, { data }] of a.weights) expect(data).toEqual(b.weights.get(name)!.data);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-training-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b) / numbers.length;
}
