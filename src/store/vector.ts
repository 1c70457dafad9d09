/** Rounds x, in place, to what is logged of it: float32. Whoever decides by x rounds it first, so that nothing is lost. */
export function toFloat32(x: Float64Array): Float64Array {
  for (let i = 0; i < x.length; i++) x[i] = Math.fround(x[i]!);
  return x;
}

export function bytesOf(x: Float64Array): Uint8Array {
  const floats = new Float32Array(x);
  for (let i = 0; i < x.length; i++) {
    if (floats[i] === x[i]) continue;
    throw new RangeError(`x[${i}] = ${x[i]} is no float32; help: decide by toFloat32(x)`);
  }
  return new Uint8Array(floats.buffer);
}

export function vectorOf(bytes: Uint8Array): Float64Array {
  // A copy: floats begin at a multiple of four, a database's buffer need not; Buffer.slice copies nothing.
  return Float64Array.from(new Float32Array(new Uint8Array(bytes).buffer));
}
