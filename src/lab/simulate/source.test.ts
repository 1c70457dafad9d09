import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { openSource } from "./source.ts";

const write = temporaryFolder();
const lines = (...rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join("\n");
const data = write(
  "pairs/queries.jsonl",
  lines(
    { id: "p", query: "one", comparisons: [{ a: "x", b: "y", outcome: "a" }] },
    { id: "q", query: "two", comparisons: [{ a: "x", b: "z", outcome: "b" }] },
    { id: "r", query: "three", comparisons: [{ a: "y", b: "x", outcome: "tie" }] },
  ),
);
const embeddings = write(
  "pairs/vectors.jsonl",
  lines({ id: "r", embedding: [3] }, { id: "p", embedding: [1] }, { id: "q", embedding: [2] }),
);

it("describes the data without a path of this machine", async () => {
  const { record, dataset } = await openSource({ data });
  expect(record).toEqual({
    data: "queries.jsonl",
    encoder: "static",
    dimension: 256,
    sha256: {
      data: expect.stringMatching(/^[0-9a-f]{64}$/),
      encoder: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
    queries: 3,
    categories: [],
    models: ["x", "y", "z"],
  });
  expect(dataset.queries.map(({ text }) => text)).toEqual(["", "", ""]);
});

it("a changed byte changes the checksum", async () => {
  const other = write(
    "pairs/more.jsonl",
    lines({ id: "p", query: "one!", scores: { x: 1, y: 0 } }),
  );
  const [a, b] = [await openSource({ data }), await openSource({ data: other })];
  expect(a.record.sha256).not.toEqual(b.record.sha256);
});

it("finds the vectors of the remaining queries if a model is left out", async () => {
  const whole = await openSource({ data, embeddings });
  expect(whole.embeddings).toEqual([1, 2, 3].map((value) => Float64Array.of(value)));
  const part = await openSource({ data, embeddings, exclude: ["z"] });
  expect(part.dataset.queries.map(({ id }) => id)).toEqual(["p", "r"]);
  expect(part.embeddings).toEqual([1, 3].map((value) => Float64Array.of(value)));
  expect(part.embeddings[0]!.buffer).toBeInstanceOf(SharedArrayBuffer);
});

it("refuses an unknown encoder, and an encoder together with vectors", async () => {
  await expect(openSource({ data, encoder: "hsh" })).rejects.toThrow(
    errorText('--encoder: "hsh" is not an encoder; hint: did you mean "hash"?'),
  );
  await expect(openSource({ data, encoder: "hash", embeddings })).rejects.toThrow(
    "--encoder: is given with --embeddings",
  );
});
