import { readFile } from "node:fs/promises";
import { InputError } from "./input-error.ts";
import { readError } from "./text.ts";

/**
 * Reads the rows of a .npy file with a matrix of little-endian float32 or float64 in row
 * order (numpy.lib.format, versions 1 to 3). The file consists of a magic word, two
 * version bytes, the length of the header, the header as a Python dictionary, and the
 * numbers.
 */
export async function readNpy(file: string): Promise<Float64Array[]> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw readError(file, error);
  });
  const fail = (problem: string, hint = HINT) => new InputError({ file }, problem, hint);
  if (bytes.length < 12 || bytes.toString("latin1", 0, 6) !== "\x93NUMPY") {
    throw fail("is not a .npy file");
  }
  const wide = bytes[6]! >= 2; // from version 2 on, the length has four bytes instead of two
  const begin = wide ? 12 : 10;
  const end = begin + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString("latin1", begin, end);

  const type = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1]?.match(/\d+/g)?.map(Number) ?? [];
  if (type !== "<f4" && type !== "<f8") throw fail(`holds ${type ?? "no plain numbers"}`);
  if (/'fortran_order':\s*True/.test(header)) throw fail("is in column (Fortran) order");
  const [rows, columns] = shape;
  if (shape.length !== 2 || rows === undefined || columns === undefined) {
    throw fail(`has shape (${shape.join(", ")}), not rows x columns`);
  }
  const size = type === "<f4" ? 4 : 8;
  const expected = rows * columns * size;
  if (bytes.length - end !== expected) {
    throw fail(
      `has ${bytes.length - end} bytes of numbers, but ${rows} x ${columns} ${type} take ${expected}`,
      "write or copy it again: it was truncated, or has extra bytes at its end",
    );
  }

  // The copy is aligned, which a typed array requires. Node runs only on little-endian platforms.
  const copy = new Uint8Array(bytes.subarray(end)).buffer;
  const numbers = type === "<f4" ? new Float32Array(copy) : new Float64Array(copy);
  return Array.from(
    { length: rows },
    (_, i) => new Float64Array(numbers.subarray(i * columns, (i + 1) * columns)),
  );
}

const HINT = "write a 2-D array with numpy.save(file, numpy.ascontiguousarray(x, '<f4'))";
