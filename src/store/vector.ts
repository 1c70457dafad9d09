import { invalidValue } from "../core/errors/joust-error.ts";

/** Rounds x to float32 in place. The log stores float32, so a policy must use the rounded vector: then replay is exact. */
export function toFloat32(x: Float64Array): Float64Array {
  for (let i = 0; i < x.length; i++) x[i] = Math.fround(x[i]!);
  return x;
}

/** Rounds x to half precision in place. A vote token holds half precision, so the gateway uses the rounded vector everywhere. */
export function toHalf(x: Float64Array): Float64Array {
  const half = halvesOf(x);
  if (half) x.set(half);
  else for (let i = 0; i < x.length; i++) x[i] = valueOfHalf(halfOf(x[i]!));
  return x;
}

/** The bytes of x as float32, the form in which votes are stored. */
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

/** The bytes of x in half precision. Values that are not half-precision numbers are rounded. */
export function halfBytesOf(x: Float64Array): Uint8Array {
  const half = halvesOf(x);
  if (half) return scratchFor(x.length).packed.slice(1);
  return new Uint8Array(Uint16Array.from(x, halfOf).buffer);
}

export function vectorOfHalf(bytes: Uint8Array): Float64Array {
  // The copy aligns the bytes, as in `vectorOf`.
  const { buffer } = new Uint8Array(bytes);
  if (Native) return new Float64Array(new Native(buffer));
  return Float64Array.from(new Uint16Array(buffer), valueOfHalf);
}

/**
 * The bytes of x: in half precision if that is exact, otherwise as float32. The first
 * byte is the size of one number.
 */
export function packedBytesOf(x: Float64Array): Uint8Array {
  return sharedPackedBytesOf(x).slice();
}

/** The same bytes as `packedBytesOf`, in memory that the next call may use again. */
export function sharedPackedBytesOf(x: Float64Array): Uint8Array {
  const half = halvesOf(x);
  const { doubles, packed } = half ? scratchFor(x.length) : portableHalves(x);
  if (half) doubles.set(half);
  return isEqual(doubles, x) ? packed : withSize(4, bytesOf(x));
}

/** The numbers in half precision and their packed bytes, for engines without Float16Array. */
function portableHalves(x: Float64Array): Pick<Scratch, "doubles" | "packed"> {
  const bytes = halfBytesOf(x);
  return { doubles: vectorOfHalf(bytes), packed: withSize(2, bytes) };
}

function withSize(size: number, numbers: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + numbers.length);
  bytes[0] = size;
  bytes.set(numbers, 1);
  return bytes;
}

function isEqual(a: Float64Array, b: Float64Array): boolean {
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function unpackedVector(bytes: Uint8Array): Float64Array {
  const numbers = bytes.subarray(1);
  return bytes[0] === 2 ? vectorOfHalf(numbers) : vectorOf(numbers);
}

/** The engine's own half precision, which Node 22 does not have. */
const Native: Float16ArrayConstructor | undefined = globalThis.Float16Array;

/** Memory for conversions. All vectors of a process have one or a few lengths. */
interface Scratch {
  readonly floats: Float32Array;
  readonly halves: Float16Array;
  readonly doubles: Float64Array;
  /** The size of one half-precision number, and the bytes of `halves`. */
  readonly packed: Uint8Array;
}

let scratch: Scratch | undefined;

function scratchFor(length: number): Scratch {
  if (scratch?.floats.length !== length) {
    // The halves start at an even address, so the first byte is not used.
    const bytes = new ArrayBuffer(2 + 2 * length);
    const packed = new Uint8Array(bytes, 1);
    packed[0] = 2;
    scratch = {
      floats: new Float32Array(length),
      halves: new Native!(bytes, 2),
      doubles: new Float64Array(length),
      packed,
    };
  }
  return scratch;
}

/**
 * The numbers in the engine's half precision, in memory that the next call uses again. They are rounded to
 * float32 first, as `halfOf` does: the same bits on every version of Node. Undefined if the engine has no half
 * precision.
 */
function halvesOf(x: Float64Array): Float16Array | undefined {
  if (!Native) return undefined;
  const { floats, halves } = scratchFor(x.length);
  floats.set(x);
  halves.set(floats);
  return halves;
}

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/**
 * The 16 bits of the half-precision number nearest to a value: sign, 5 bits of exponent, 10 of
 * fraction (IEEE 754 binary16).
 */
export function halfOf(value: number): number {
  FLOAT[0] = value;
  const bits = BITS[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65520 and above round to infinity
  if (magnitude >= 0x38800000) return sign | roundedShift(magnitude - 0x38000000, 13);
  // Below 2^-14 the numbers are multiples of 2^-24.
  FLOAT[0] = Math.abs(value) * 2 ** 24;
  return sign | roundedInteger(FLOAT[0]);
}

/** Shifts right and rounds to the nearest integer, ties to even. */
function roundedShift(bits: number, places: number): number {
  const half = 1 << (places - 1);
  const odd = (bits >>> places) & 1;
  return (bits + half - 1 + odd) >>> places;
}

function roundedInteger(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

export function valueOfHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
