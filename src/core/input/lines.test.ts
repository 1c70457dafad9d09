import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { errorText } from "../errors/error-text.fixture.ts";
import { temporaryFolder } from "./folder.fixture.ts";
import { InputError } from "./input-error.ts";
import { readLines } from "./lines.ts";
import { readRows } from "./rows.ts";

const write = temporaryFolder();

async function lines(path: string): Promise<[number, string][]> {
  const out: [number, string][] = [];
  for await (const { number, text } of readLines(path)) out.push([number, text]);
  return out;
}

it("numbers lines from 1 and skips blank ones, with LF, CRLF, a BOM and no last line break", async () => {
  const path = write("mixed.jsonl", "\uFEFFone\r\n\n  \ntwo\nthree");
  expect(await lines(path)).toEqual([
    [1, "one"],
    [4, "two"],
    [5, "three"],
  ]);
});

it("reads the same from a compressed file, also with several gzip members", async () => {
  const text = "one\ntwo é 漢字\n";
  const plain = await lines(write("a.jsonl", text));
  expect(await lines(write("a.jsonl.gz", text))).toEqual(plain);
  const members = Buffer.concat([gzipSync("one\n"), gzipSync("two é 漢字\n")]);
  expect(await lines(write("members.jsonl.gz", members))).toEqual(plain);
});

it("recognises gzip by the content, not by the name", async () => {
  expect(await lines(write("packed.jsonl", gzipSync("one\n")))).toEqual([[1, "one"]]);
  expect(await lines(write("plain.jsonl.gz", Buffer.from("one\n")))).toEqual([[1, "one"]]);
  expect(await lines(write("short.jsonl", "1"))).toEqual([[1, "1"]]);
});

it("joins lines across the pieces in which a file is read", async () => {
  const long = "漢".repeat(700_000); // 2.1 MB: eight pieces, split inside characters
  const path = write("long.jsonl", `${long}\nshort\n${long}`);
  expect(await lines(path)).toEqual([
    [1, long],
    [2, "short"],
    [3, long],
  ]);
});

it("returns the non-blank lines of any text", async () => {
  const text = fc.array(fc.string({ unit: "binary" }).map((s) => s.replace(/[\r\n\uFEFF]/g, "")));
  await fc.assert(
    fc.asyncProperty(text, async (wanted) => {
      const encodable = wanted.filter((s) => s.isWellFormed());
      const found = await lines(write("any.jsonl", encodable.join("\n")));
      expect(found.map(([, line]) => line)).toEqual(encodable.filter((s) => s.trim() !== ""));
    }),
    { seed: 1, numRuns: 20 },
  );
});

const SHAPE = z.object({ id: z.string(), at: z.array(z.object({ n: z.number().min(0) })) });

async function rows(path: string): Promise<unknown[]> {
  const out: unknown[] = [];
  for await (const { row } of readRows(path, SHAPE, "correct it")) out.push(row);
  return out;
}

it("an error has the place, the field, the problem and the hint", async () => {
  const file = write("rows.jsonl", '{"id":"a","at":[]}\n\n{"id":"b","at":[{"n":1},{"n":-1}]}');
  const error = await rows(file).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toMatchObject({ file, line: 3, field: "at[1].n", hint: "correct it" });
  expect(String(error)).toBe(`InputError: ${file}:3: field "at[1].n": is -1, below 0`);
});

it("rejects a field that is similar to a missing one, and allows other fields of the user's own", async () => {
  const SHAPE = z.object({ id: z.string(), costs: z.number().optional() });
  const read = async (row: unknown) => {
    for await (const { row: found } of readRows(write("own.jsonl", JSON.stringify(row)), SHAPE, ""))
      return found;
  };
  const own = { id: "a", uid: 7, notes: "", tokens: 3 };
  expect(await read(own)).toEqual({ id: "a" });
  expect(await read({ ...own, costs: 1, cost: 2 })).toEqual({ id: "a", costs: 1 });
  await expect(read({ ...own, cost: 2 })).rejects.toThrow(
    errorText(':1: field "cost": is unknown; hint: did you mean "costs"?'),
  );
});

it.each([
  ["missing field", '{"id":"a"}', /:1: field "at": is missing/],
  ["wrong type", '{"id":7,"at":[]}', /:1: field "id": is 7, not of type string/],
  ["broken JSON", '{"id":"a","at":[]}\n{"id":', /:2: is not JSON .*hint: write one JSON object/],
  ["NaN", '{"id":"a","at":[{"n":NaN}]}', /:1: is not JSON .*JSON has no NaN/],
  ["a list over several lines", "[\n{}\n]", /:1: is not JSON .*jq -c/],
  ["a list on one line", '[{"id":"a","at":[]}]', /:1: is \[.*not a JSON object.*jq -c/],
  ["null", "null", /:1: is null, not a JSON object/],
])("rejects a row: %s", async (_, text, message) => {
  await expect(rows(write("bad.jsonl", text))).rejects.toThrow(errorText(message));
});

it.each([
  ["missing file", () => "no-such.jsonl", /does not exist/],
  ["folder", () => dirname(write("x", "")), /is a folder/],
  ["damaged gzip", () => write("bad.jsonl", Buffer.from([0x1f, 0x8b, 1, 1])), /is damaged gzip/],
  [
    "cut gzip",
    () => write("cut.jsonl.gz", gzipSync("a long text".repeat(99)).subarray(0, 30)),
    /ends in the middle of the gzip data/,
  ],
  ["not UTF-8", () => write("latin.jsonl", Buffer.from([0x61, 0xe9, 0x0a])), /is not UTF-8/],
])("rejects a file: %s", async (_, path, message) => {
  const error = await lines(path()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toEqual(errorText(message));
});
