import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Dataset } from "./dataset.ts";
import { readEmbeddings } from "./embeddings.ts";
import { jsonl } from "./load.fixture.ts";

const write = temporaryFolder();
const DATASET: Dataset = {
  models: [],
  categories: [],
  queries: ["a", "b", "7"].map((id) => ({ id, text: id, category: -1 })),
};
const ROWS = [Float64Array.of(1, 2), Float64Array.of(3, 4), Float64Array.of(5, 6.5)];

function npy(rows: number, ...values: number[]): Buffer {
  const columns = values.length / rows;
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`;
  const header = `${text.padEnd(117)}\n`;
  const head = Buffer.from(`\x93NUMPY\x01\x00${String.fromCharCode(header.length)}\x00`, "latin1");
  return Buffer.concat([head, Buffer.from(header), Buffer.from(Float32Array.from(values).buffer)]);
}

it("row i of a matrix is query i", async () => {
  const file = write("good.npy", npy(3, 1, 2, 3, 4, 5, 6.5));
  expect(await readEmbeddings(file, DATASET)).toEqual(ROWS);
});

it("lines belong to queries by id, in any order, compressed or not", async () => {
  const text = jsonl(
    { id: 7, embedding: [5, 6.5] },
    { id: "b", embedding: [3, 4] },
    { id: "a", embedding: [1, 2] },
  );
  expect(await readEmbeddings(write("good.jsonl", text), DATASET)).toEqual(ROWS);
  expect(await readEmbeddings(write("good.jsonl.gz", text), DATASET)).toEqual(ROWS);
});

const a = { id: "a", embedding: [1, 2] };
const b = { id: "b", embedding: [3, 4] };
it.each<[string, string, string | Buffer, RegExp]>([
  ["too few rows", "e.npy", npy(2, 1, 2, 3, 4), /has 2 rows where the data has 3 queries/],
  ["too many rows", "e.npy", npy(4, 1, 2, 3, 4), /has 4 rows where the data has 3 queries/],
  ["no columns", "e.npy", npy(3), /vectors of length 0/],
  ["NaN", "e.npy", npy(3, 1, 2, 3, Number.NaN, 5, 6), /field "row 1, column 1": is NaN/],
  ["Infinity", "e.npy", npy(3, 1, 2, 3, 4, 5, 1 / 0), /field "row 2, column 1": is Infinity/],
  ["zeros", "e.npy", npy(3, 1, 2, 0, 0, 5, 6), /field "row 1": is all zeros; hint: embed that/],
  [
    "zeros",
    "e.jsonl",
    jsonl(a, { ...b, embedding: [0, 0] }),
    /:2: field "embedding": is all zeros/,
  ],
  ["an unknown id", "e.jsonl", jsonl(a, { ...b, id: "x" }), /:2: field "id": "x" is not a query/],
  ["an id twice", "e.jsonl", jsonl(a, b, a), /:3: field "id": "a" appears twice/],
  ["a missing id", "e.jsonl", jsonl(a, b), /field "id": query "7" is missing/],
  ["another length", "e.jsonl", jsonl(a, { ...b, embedding: [1] }), /:2: field "embedding": has 1/],
  ["no length", "e.jsonl", jsonl({ ...a, embedding: [] }), /:1: field "embedding": is empty/],
  ["NaN", "e.jsonl", '{"id":"a","embedding":[NaN]}', /:1: is not JSON.*no NaN/],
  ["null", "e.jsonl", jsonl({ ...a, embedding: [1, null] }), /:1: field "embedding\[1\]": is null/],
  ["an overflow", "e.jsonl", '{"id":"a","embedding":[1e999]}', /:1: field "embedding\[0\]"/],
  ["no embedding", "e.jsonl", jsonl({ id: "a" }), /:1: field "embedding": is missing/],
  ["another format", "e.bin", "", /is neither .npy nor .jsonl/],
])("refuses %s in %s", async (_, name, content, message) => {
  const error = await readEmbeddings(write(name, content), DATASET).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toEqual(errorText(message));
});
