import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hashEncoder } from "../../src/core/encoder/hash.ts";
import {
  temporaryModels,
  tinyModel,
} from "../../src/core/encoder/transformer/model/tiny-model.fixture.ts";
import { temporaryFolder } from "../../src/core/input/folder.fixture.ts";
import { OWN_QUERIES, OWN_SCORES } from "../../src/lab/data/real-data.fixture.ts";
import { joust, ROOT, withoutTimes } from "./joust.fixture.ts";

const write = temporaryFolder();
const writeModel = temporaryModels();
const MAIN = join(ROOT, "bin/joust.js");

interface Vector {
  readonly id: string;
  readonly embedding: number[];
}

function parse(stdout: string): Vector[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Vector);
}

function piped(input: string, ...args: string[]) {
  return spawnSync(process.execPath, [MAIN, "encode", ...args], { input, encoding: "utf8" });
}

it("prints one line per query of a file or stdin, plain text or JSON lines, with the given encoder", async () => {
  const text = "Why is the sky blue?\nWho wrote Faust?\n";
  const { stdout, stderr, status } = piped(text, "--encoder", "hash");
  expect([status, stderr]).toEqual([0, ""]);
  const vectors = await hashEncoder.encode(text.trim().split("\n"));
  expect(parse(stdout)).toEqual([
    { id: "line-1", embedding: [...vectors[0]!] },
    { id: "line-2", embedding: [...vectors[1]!] },
  ]);
  const jsonl = text
    .trim()
    .split("\n")
    .map((query, i) => JSON.stringify({ id: `q${i}`, query }));
  const file = write("queries.jsonl.gz", jsonl.join("\n"));
  const packed = await joust("encode", file, "--encoder", "hash");
  const streamed = piped(jsonl.join("\n"), "-", "--encoder", "hash");
  expect(streamed.stdout).toBe(packed.stdout);
  expect(parse(packed.stdout).map(({ id }) => id)).toEqual(["q0", "q1"]);
  // The default encoder gives other embeddings.
  expect(parse(piped(text).stdout)[0]!.embedding).not.toEqual([...vectors[0]!]);
});

it("exits when an 8-bit transformer is done, even if another thread is still opening the model", () => {
  const folder = writeModel(tinyModel("bert"));
  const { stdout, stderr, status } = piped("a cat\nthe mat\n", "--encoder", `${folder}:int8`);
  expect([status, stderr]).toEqual([0, ""]);
  expect(parse(stdout).map(({ embedding }) => embedding.length)).toEqual([8, 8]);
});

it("its output for simulate --embeddings gives the same results as --encoder", async () => {
  const args = ["--scores", OWN_SCORES, "--policies", "joust", "--rounds", "50", "--json"];
  const { stdout } = await joust("encode", OWN_QUERIES);
  const file = write("vectors.jsonl.gz", stdout);
  const read = await joust("simulate", OWN_QUERIES, "--embeddings", file, ...args);
  const encoded = await joust("simulate", OWN_QUERIES, ...args);
  expect(withoutTimes(read.stdout).policies).toEqual(withoutTimes(encoded.stdout).policies);
});

it("needs constant memory for any input, and exits silently if its reader closes the pipe", async () => {
  const measure = `data:text/javascript,import { isMainThread } from "node:worker_threads";
    if (isMainThread) process.on("exit", () => console.error(process.resourceUsage().maxRSS / 1024));`;
  const child = spawn(process.execPath, ["--import", measure, MAIN, "encode", "--encoder", "hash"]);
  let [stdout, stderr] = [0, ""];
  child.stdout.on("data", (piece: Buffer) => {
    stdout += piece.length;
  });
  child.stderr.on("data", (piece: Buffer) => {
    stderr += piece;
  });
  // 30,000 embeddings are 60 MB as numbers and 90 MB as text.
  const line = "How many sheep are there?\n";
  const pieces = Array.from({ length: 30 }, () => line.repeat(1000));
  child.stdin.on("error", () => {});
  child.stdin.end(pieces.join(""));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(0);
  expect(stdout).toBeGreaterThan(30_000 * 384 * 2);
  expect(Number(stderr)).toBeLessThan(200);

  const head = spawn(process.execPath, [MAIN, "encode", OWN_QUERIES, "--encoder", "hash"]);
  head.stdout.once("data", () => head.stdout.destroy());
  let complaint = "";
  head.stderr.on("data", (piece: Buffer) => {
    complaint += piece;
  });
  const [ended] = (await once(head, "exit")) as [number];
  expect([ended, complaint]).toEqual([0, ""]);
});

it.each<[string, string[], RegExp]>([
  ["no such file", ["nowhere.jsonl"], /^joust: nowhere\.jsonl: does not exist\nhint: .*\n$/],
  ["no such encoder", [OWN_QUERIES, "--encoder", "MinLM"], /did you mean "MiniLM"\?/],
])("%s: exits with 2 and a hint", async (_, args, message) => {
  const { code, stdout, stderr } = await joust("encode", ...args);
  expect(stderr).toMatch(message);
  expect([code, stdout]).toEqual([2, ""]);
});

it("--help names the options", async () => {
  const { stdout } = await joust("encode", "--help");
  for (const text of ["--encoder", "MiniLM", "Examples:", "starts with {"]) {
    expect(stdout).toContain(text);
  }
});
