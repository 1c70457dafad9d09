import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { jsonl } from "./load.fixture.ts";
import { readTexts, type Text, textsOf } from "./texts.ts";

const write = temporaryFolder();
const JSONL = jsonl({ id: "a", query: "One?\nTwo?" }, { query: "Three?" });
const READ = [
  { id: "a", text: "One?\nTwo?" },
  { id: "line-2", text: "Three?" },
];

function stdin(text: string): AsyncIterable<Text> {
  // The pieces cut characters in two.
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, i) =>
    bytes.subarray(3 * i, 3 * i + 3),
  );
  return textsOf(
    "-",
    (async function* () {
      yield* pieces;
    })(),
  );
}

async function all(texts: AsyncIterable<Text>): Promise<Text[]> {
  const out: Text[] = [];
  for await (const text of texts) out.push(text);
  return out;
}

it("reads jsonl, compressed or not, from a file and from a stream", async () => {
  expect(await all(readTexts(write("a.jsonl", JSONL)))).toEqual(READ);
  expect(await all(readTexts(write("a.jsonl.gz", JSONL)))).toEqual(READ);
  expect(await all(readTexts(write("a.txt", JSONL)))).toEqual(READ);
  expect(await all(stdin(JSONL))).toEqual(READ);
});

it("reads plain text with one query per line and skips blank lines", async () => {
  const text = "Où?\r\n\n  {not json} 漢字\n[1]";
  const read = [
    { id: "line-1", text: "Où?" },
    { id: "line-3", text: "  {not json} 漢字" },
    { id: "line-4", text: "[1]" },
  ];
  expect(await all(readTexts(write("plain.txt", text)))).toEqual(read);
  expect(await all(stdin(text))).toEqual(read);
});

it("reads every data set that a simulation reads, with the same ids", async () => {
  const comparisons = jsonl({ query: "Who?", comparisons: [{ a: "x", b: "y", outcome: "a" }] });
  expect(await all(readTexts(write("c.jsonl", comparisons)))).toEqual([
    { id: "line-1", text: "Who?" },
  ]);
});

it.each([
  ["an empty file", "", /is empty; hint: give lines/],
  ["no query", '{"id":"a","text":"Who?"}', /:1: field "query": is missing/],
  ["broken JSON", '{"id":"a","query":"Who?"}\n{"id":', /:2: is not JSON/],
  ["an empty query", '{"query":" "}', /:1: field "query": is empty/],
])("refuses %s", async (name, text, message) => {
  for (const texts of [readTexts(write(`${name}.jsonl`, text)), stdin(text)]) {
    const error = await all(texts).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toEqual(errorText(message));
  }
});

it("refuses a missing file and bytes that are not text", async () => {
  await expect(all(readTexts("nowhere.jsonl"))).rejects.toThrow(errorText(/does not exist/));
  const latin = (async function* () {
    yield Buffer.from([0x66, 0xfc, 0x72]);
  })();
  await expect(all(textsOf("-", latin))).rejects.toThrow(errorText(/-: is not UTF-8 text; hint:/));
});
