import { invalidValue } from "../errors/joust-error.ts";

/**
 * A seeded, splittable random generator. Randomness is always an argument: functions
 * take a `Random` and split it by name, so that a stream does not depend on how much
 * another stream has drawn.
 *
 * The bits come from Threefry-2x32 with 20 rounds (Salmon et al. 2011, "Parallel random
 * numbers: as easy as 1, 2, 3"): word n of a stream is a keyed hash of the counter n, and
 * the key of a child is a keyed hash of its label.
 *
 * Draws use only integer operations and the five operations that IEEE 754 rounds exactly
 * (+ - * / sqrt), so a seed gives the same numbers on every machine.
 */
export class Random {
  readonly #key: readonly [number, number];
  #counter = 0;
  readonly #block = new Uint32Array(2);
  #spareNormal = Number.NaN;

  constructor(key: readonly [number, number]) {
    this.#key = [key[0] >>> 0, key[1] >>> 0];
  }

  /** Creates the generator of a seed, which is any integer up to 2^53 in size. */
  static seeded(seed: number): Random {
    if (!Number.isSafeInteger(seed)) {
      throw invalidValue(`seed must be an integer, got ${seed}`, "give for example 1");
    }
    return new Random([Math.floor(seed / 2 ** 32) >>> 0, seed >>> 0]);
  }

  /** Returns an independent stream. The same label always gives the same stream, whatever was drawn before. */
  split(label: string | number): Random {
    const out = new Uint32Array(2);
    if (typeof label === "string") {
      threefry2x32(this.#key, fnv1a(label), SPLIT_BY_NAME | murmur(label), out);
    } else if (Number.isSafeInteger(label)) {
      threefry2x32(this.#key, label >>> 0, SPLIT_BY_NUMBER + Math.floor(label / 2 ** 32), out);
    } else {
      throw new RangeError(`label must be a name or an integer, got ${label}`);
    }
    return new Random([out[0]!, out[1]!]);
  }

  /** Draws uniformly from [0, 1), with 53 random bits. */
  uniform(): number {
    this.#draw();
    return ((this.#block[0]! >>> 5) * 2 ** 26 + (this.#block[1]! >>> 6)) / 2 ** 53;
  }

  /** Draws uniformly from 0 .. n-1, without bias for any n up to 2^32, by rejection. */
  integer(n: number): number {
    if (!(n >= 1 && n <= 2 ** 32 && Number.isInteger(n))) {
      throw new RangeError(`integer(n) needs a whole n from 1 to 2^32, got ${n}`);
    }
    const limit = 2 ** 32 - (2 ** 32 % n);
    for (;;) {
      this.#draw();
      if (this.#block[0]! < limit) return this.#block[0]! % n;
    }
  }

  /** Draws a standard normal number by Marsaglia's polar method, which yields two at a time. */
  normal(): number {
    if (!Number.isNaN(this.#spareNormal)) {
      const spare = this.#spareNormal;
      this.#spareNormal = Number.NaN;
      return spare;
    }
    for (;;) {
      this.#draw();
      const a = this.#block[0]! / 2 ** 31 - 1;
      const b = this.#block[1]! / 2 ** 31 - 1;
      const r2 = a * a + b * b;
      if (r2 >= 1 || r2 === 0) continue;
      const scale = Math.sqrt((-2 * exactLog(r2)) / r2);
      this.#spareNormal = b * scale;
      return a * scale;
    }
  }

  /** Draws from Gumbel(0, 1) by inversion of odd multiples of 2^-53, which are never 0 or 1. */
  gumbel(): number {
    this.#draw();
    const u = ((this.#block[0]! >>> 5) * 2 ** 26 + ((this.#block[1]! >>> 6) | 1)) / 2 ** 53;
    return -exactLog(-exactLog(u));
  }

  /** Shuffles in place (Fisher-Yates). */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [items[i], items[j]] = [items[j]!, items[i]!];
    }
    return items;
  }

  /** Draws a permutation of 0 .. n-1 without fixed points. It takes about e shuffles. */
  derangement(n: number): number[] {
    if (n === 1) throw new RangeError("derangement(1) does not exist: a single item cannot move");
    for (;;) {
      const order = this.shuffle(Array.from({ length: n }, (_, i) => i));
      if (order.every((k, i) => k !== i)) return order;
    }
  }

  #draw(): void {
    const n = this.#counter++;
    threefry2x32(this.#key, n >>> 0, Math.floor(n / 2 ** 32), this.#block);
  }
}

/**
 * Second counter word of a split. Draws use words below 2^21 (enough for 2^53 draws),
 * splits by number use words within 2^21 of SPLIT_BY_NUMBER, and splits by name set the
 * top bit, so a draw and the two kinds of splits never use the same word.
 */
const SPLIT_BY_NUMBER = 0x40000000;
const SPLIT_BY_NAME = 0x80000000;

/** Computes one Threefry-2x32-20 block. random.test.ts has the known answers. */
export function threefry2x32(
  key: readonly [number, number],
  c0: number,
  c1: number,
  out: Uint32Array,
): void {
  const k0 = key[0] | 0;
  const k1 = key[1] | 0;
  const k2 = k0 ^ k1 ^ 0x1bd11bda;
  let x0 = (c0 + k0) | 0;
  let x1 = (c1 + k1) | 0;
  for (let round = 0; round < 20; round += 8) {
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 13) | (x1 >>> 19)) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 15) | (x1 >>> 17)) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 26) | (x1 >>> 6)) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 6) | (x1 >>> 26)) ^ x0;
    const i = round >> 2; // key injections 1, 3, 5 after rounds 4, 12, 20
    x0 = (x0 + (i === 0 ? k1 : i === 2 ? k0 : k2)) | 0;
    x1 = (x1 + (i === 0 ? k2 : i === 2 ? k1 : k0) + i + 1) | 0;
    if (round === 16) break;
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 17) | (x1 >>> 15)) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 29) | (x1 >>> 3)) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 16) | (x1 >>> 16)) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << 24) | (x1 >>> 8)) ^ x0;
    x0 = (x0 + (i === 0 ? k2 : k1)) | 0; // injections 2, 4
    x1 = (x1 + (i === 0 ? k0 : k2) + i + 2) | 0;
  }
  out[0] = x0;
  out[1] = x1;
}

/**
 * Natural logarithm by exactly rounded operations only, within 2 ulp of Math.log, whose
 * last bit is not specified by the language.
 * log(m 2^e) = e log 2 + 2 atanh(s), s = (m-1)/(m+1), m in [1/sqrt 2, sqrt 2).
 */
export function exactLog(value: number): number {
  if (!(value >= SMALLEST_NORMAL && value < Infinity)) return logOfSpecialValue(value);
  DOUBLE.setFloat64(0, value);
  const high = DOUBLE.getUint32(0);
  DOUBLE.setUint32(0, (high & 0xfffff) | 0x3ff00000);
  let m = DOUBLE.getFloat64(0);
  let exponent = (high >>> 20) - 1023;
  if (m > Math.SQRT2) {
    m /= 2;
    exponent++;
  }
  const s = (m - 1) / (m + 1);
  const s2 = s * s;
  let sum = 0;
  for (let k = 23; k >= 1; k -= 2) sum = sum * s2 + 1 / k;
  return exponent * Math.LN2 + 2 * s * sum;
}
const DOUBLE = new DataView(new ArrayBuffer(8)); // big-endian by default, on every machine
const SMALLEST_NORMAL = 2 ** -1022;

/** Handles subnormals, which have no hidden bit and are scaled first, and 0, infinity, negatives and NaN as Math.log does. */
function logOfSpecialValue(value: number): number {
  if (value === 0) return -Infinity;
  if (value === Infinity) return Infinity;
  return value > 0 ? exactLog(value * 2 ** 54) - 54 * Math.LN2 : Number.NaN;
}

/**
 * The first of two different hashes of a name. A single hash of 32 bits would collide
 * after about 65,000 names ("liquid", "costarring").
 */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

function murmur(text: string): number {
  let hash = text.length;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash;
}
