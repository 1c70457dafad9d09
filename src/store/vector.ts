import { invalidValue } from "../core/errors/joust-error.ts";

/** Rounds x to float32 in place. The log stores float32, so a policy must use the rounded vector: then replay is exact. */
export function toFloat32(x: Float64Array): Float64Array {
  for (let i = 0; i < x.length; i++) x[i] = Math.fround(x[i]!);
  return x;
}

export function bytesOf(x: Float64Array): Uint8Array {
  const floats = new Float32Array(x);
  for (let i = 0; i < x.length; i++) {
    if (floats[i] === x[i]) continue;
    throw invalidValue(
      `x[${i}] = ${x[i]} is not a float32`,
      "round the vector with toFloat32(x) first",
    );
  }
  return new Uint8Array(floats.buffer);
}

export function vectorOf(bytes: Uint8Array): Float64Array {
  // The copy aligns the bytes: a Float32Array must start at a multiple of four, a database buffer may not.
  return Float64Array.from(new Float32Array(new Uint8Array(bytes).buffer));
}
