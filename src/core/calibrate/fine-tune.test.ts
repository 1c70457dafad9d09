import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openEncoder } from "../encoder/open-encoder.ts";
import { STATIC_FILE, writeStaticFile } from "../encoder/static/static-file.ts";
import { smallTable } from "../encoder/static/static-table.fixture.ts";
import { Random } from "../random/random.ts";
import { fineTune, type TrainingOptions } from "./fine-tune.ts";
import { pairsOf } from "./pairs.ts";

const TEXTS = ["the cat sat", "cats on the mat", "a b, c", "dog b. 2"];
const PAIRS = pairsOf([0, 0, 1, 1], Random.seeded(1));

async function trained(options: Partial<TrainingOptions>, pairs = PAIRS) {
  const folder = mkdtempSync(join(tmpdir(), "joust-train-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeStaticFile(join(folder, STATIC_FILE), smallTable(8));
  const base = await openEncoder(folder);
  const { path, losses } = await fineTune(base, TEXTS, pairs, {
    ...{ epochs: 3, batch: 2, learningRate: 0.01, random: Random.seeded(1), folder },
    ...options,
  });
  return { base, encoder: await openEncoder(path), losses };
}

it("trains a static encoder, saves it for openEncoder, and returns the mean loss of each epoch", async () => {
  const seen: number[] = [];
  const { base, encoder, losses } = await trained({ onStep: ({ loss }) => seen.push(loss) });
  expect(seen.length).toBe(6);
  expect(losses).toEqual([0, 1, 2].map((n) => (seen[2 * n]! + seen[2 * n + 1]!) / 2));
  expect(encoder).toMatchObject({ kind: "static", dimension: 8 });
  expect(encoder.identity).not.toBe(base.identity);
  const again = await trained({});
  expect(again.encoder.identity).toBe(encoder.identity);
  const other = await trained({ random: Random.seeded(2) });
  expect(other.encoder.identity).not.toBe(encoder.identity);
});

it("copies the encoder if there are no epochs", async () => {
  const { base, encoder, losses } = await trained({ epochs: 0 }, []);
  expect(losses).toEqual([]);
  expect(encoder.identity).toBe(base.identity);
});

it("rejects an encoder that cannot be trained", async () => {
  const hash = await openEncoder("hash");
  const options = { epochs: 1, batch: 1, learningRate: 1, random: Random.seeded(1), folder: "" };
  await expect(fineTune(hash, TEXTS, PAIRS, options)).rejects.toThrow(/hash cannot be fine-tuned/);
});
