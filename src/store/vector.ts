/** x as it is logged: float32. Whoever decides by x rounds it first, so that nothing is lost. */
export function toFloat32(x: Float64Array): Float64Array {
  // The constructors convert natively, 8 times as fast as Float64Array.from(x, Math.fround).
  return new Float64Array(new Float32Array(x));
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
