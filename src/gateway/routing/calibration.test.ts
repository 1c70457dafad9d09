import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { Calibrations, poolOf } from "./calibration.ts";

const places = { search: [], download: "", hubCache: "" };
const encoders = { models: places, openai: { apiKey: undefined }, embeddingCache: "" };
const DATA = join(import.meta.dirname, "../../../data");

it("reads scores again after their file has changed, with the same encoder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "joust-calibration-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const scores = join(folder, "scores.csv");
  const write = (perf: string) =>
    writeFileSync(scores, `model,category,perf,cost\nsmall,mmlu,${perf},1\n`);
  const calibrations = new Calibrations({ data: DATA, encoders });
  onTestFinished(() => calibrations.close());
  const open = () => calibrations.open({ encoder: "hash", scores });

  write("0.5");
  const [before, again] = [await open(), await open()];
  expect(again).toBe(before);
  write("0.75");
  const after = await open();
  expect(after.encoder).toBe(before.encoder);
  const mmlu = before.categories.indexOf("mmlu");
  expect([before, after].map((own) => poolOf(own, ["small"]).told![0]![mmlu])).toEqual([0.5, 0.75]);
});

it("opens an encoder again that is wanted while the unused ones are closed", async () => {
  const calibrations = new Calibrations({ data: DATA, encoders });
  onTestFinished(() => calibrations.close());
  const first = await calibrations.open({ encoder: "hash" });
  const second = await calibrations.open({ encoder: "static" });
  const { close } = second.encoder;
  let isClosed = false;
  Object.assign(first.encoder, { close: () => calibrations.open({ encoder: "static" }) });
  Object.assign(second.encoder, {
    close: () => {
      isClosed = true;
      return close();
    },
  });
  await calibrations.retain([]);
  expect(isClosed).toBe(true);
  expect((await calibrations.open({ encoder: "static" })).encoder).not.toBe(second.encoder);
});
