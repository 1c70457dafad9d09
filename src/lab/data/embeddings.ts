import { z } from "zod";
import { InputError, type Place } from "../../core/input/input-error.ts";
import { readNpy } from "../../core/input/npy.ts";
import { readRows } from "../../core/input/rows.ts";
import type { Dataset } from "./dataset.ts";

/** Reads vectors made by another program, one per query: .npy (row i is query i) or jsonl {"id","embedding"}. */
export async function readEmbeddings(path: string, dataset: Dataset): Promise<Float64Array[]> {
  if (path.endsWith(".npy")) return checkedRows(path, await readNpy(path), dataset);
  if (/\.jsonl(\.gz)?$/.test(path)) return byId(path, dataset);
  throw new InputError({ file: path }, "is neither .npy nor .jsonl", HINT);
}

function checkedRows(file: string, rows: Float64Array[], { queries }: Dataset): Float64Array[] {
  if (rows.length !== queries.length) {
    throw new InputError(
      { file },
      `has ${rows.length} rows where the data has ${queries.length} queries`,
      "embed the same file, in the same order",
    );
  }
  if (rows[0]!.length === 0) throw new InputError({ file }, "has vectors of length 0", HINT);
  rows.forEach((row, i) => {
    const bad = row.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      const field = `row ${i}, column ${bad}`;
      throw new InputError({ file, field }, `is ${row[bad]}`, "embed that query again");
    }
    checkDirection(row, { file, field: `row ${i}` });
  });
  return rows;
}

async function byId(file: string, { queries }: Dataset): Promise<Float64Array[]> {
  const vectors = new Map<string, Float64Array | undefined>();
  for (const { id } of queries) vectors.set(id, undefined);
  let length: number | undefined;
  for await (const { line, row } of readRows(file, SHAPE, HINT)) {
    const id = String(row.id);
    const place = { file, line, field: "id" };
    if (!vectors.has(id)) {
      throw new InputError(place, `"${id}" is not a query of the data`, "embed the same file");
    }
    if (vectors.get(id)) throw new InputError(place, `"${id}" appears twice`, "leave one out");
    length ??= row.embedding.length;
    if (row.embedding.length !== length) {
      throw new InputError(
        { file, line, field: "embedding" },
        `has ${row.embedding.length} numbers where the first has ${length}`,
        "embed all queries with one encoder",
      );
    }
    const vector = Float64Array.from(row.embedding);
    checkDirection(vector, { file, line, field: "embedding" });
    vectors.set(id, vector);
  }
  return queries.map(({ id }) => {
    const vector = vectors.get(id);
    if (vector) return vector;
    throw new InputError({ file, field: "id" }, `query "${id}" is missing`, "embed every query");
  });
}

/** Refuses a vector of zeros, which a failed encoder leaves behind. */
function checkDirection(vector: Float64Array, place: Place): void {
  if (vector.some((value) => value !== 0)) return;
  throw new InputError(
    place,
    "is all zeros",
    "embed that query again, or leave it out of the data",
  );
}

const SHAPE = z.object({
  id: z.union([z.string(), z.number()]),
  embedding: z.array(z.number()).refine((values) => values.length > 0, "is empty"),
});
const HINT =
  'give a .npy matrix with one row per query, or a .jsonl of {"id": "q1", "embedding": [0.1, ..]}';
