import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { weightShapes } from "../model/architecture.ts";
import {
  safetensorsBytes,
  temporaryModels,
  tinyArchitecture,
  tinyConfig,
  tinyModel,
} from "../model/tiny-model.fixture.ts";
import { openTransformer } from "./transformer-encoder.ts";

const writeModel = temporaryModels();

/** Runs `program` in a process with an open encoder `e`, and returns how it ended. */
function exitOf(folder: string, program: string): Promise<unknown> {
  const module = new URL("./transformer-encoder.ts", import.meta.url);
  const script = `
    import { openTransformer } from ${JSON.stringify(module)};
    const e = await openTransformer(${JSON.stringify(folder)}, { threads: 2 });
    const many = Array.from({ length: 5000 }, (_, i) => "the cat sat on " + i);
    ${program}`;
  const file = join(folder, "program.mjs");
  writeFileSync(file, script);
  return new Promise((resolve) => {
    execFile(process.execPath, [file], (error, _, stderr) => {
      resolve({ code: error?.code ?? 0, signal: error?.signal ?? null, stderr });
    });
  });
}

it("a process with an idle open encoder exits by itself", async () => {
  const end = await exitOf(writeModel(tinyModel("bert")), 'await e.encode(["cats"]);');
  expect(end).toEqual({ code: 0, signal: null, stderr: "" });
});

it("a process can exit during encoding without a crash", async () => {
  const end = await exitOf(
    writeModel(middleModel()),
    "void e.encode(many); setTimeout(() => process.exit(7), 50);",
  );
  expect(end).toEqual({ code: 7, signal: null, stderr: "" });
});

it("does not block the event loop while it encodes 500 texts", async () => {
  const encoder = await openTransformer(writeModel(middleModel()), { threads: 1, cacheSize: 0 });
  const texts = Array.from({ length: 500 }, (_, i) => `mat ${i} `.repeat(1 + (i % 40)));
  await encoder.encode(texts.slice(0, 10));
  // Processor time, which does not depend on other processes.
  const spent = ({ user, system }: NodeJS.CpuUsage) => user + system;
  const before = { thread: process.threadCpuUsage(), all: process.cpuUsage() };
  await encoder.encode(texts);
  const thread = spent(process.threadCpuUsage(before.thread));
  const all = spent(process.cpuUsage(before.all));
  await encoder.close();
  // If the model ran in this thread, the share would be near 1.
  expect(thread / all).toBeLessThan(0.25);
});

/** A model that is large enough to dominate the work. */
function middleModel() {
  const own = { hiddenSize: 128, heads: 4, layers: 3, intermediateSize: 512, positions: 128 };
  const architecture = { ...tinyArchitecture("bert"), ...own };
  let seed = 1;
  const next = () => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647 - 0.5;
  };
  const tensors = [...weightShapes(architecture)].map(([name, dims]) => {
    const length = dims.reduce((product, dim) => product * dim, 1);
    return [name, { dims, data: Float32Array.from({ length }, next) }] as const;
  });
  return {
    ...tinyModel("bert"),
    "config.json": {
      ...tinyConfig("bert"),
      hidden_size: own.hiddenSize,
      num_attention_heads: own.heads,
      num_hidden_layers: own.layers,
      intermediate_size: own.intermediateSize,
      max_position_embeddings: own.positions,
    },
    "model.safetensors": safetensorsBytes(new Map(tensors)),
    "sentence_bert_config.json": { max_seq_length: own.positions },
    "1_Pooling/config.json": {
      word_embedding_dimension: own.hiddenSize,
      pooling_mode_mean_tokens: true,
    },
  };
}
