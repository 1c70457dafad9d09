import { describe, expect, it } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { exactLog, Random, threefry2x32 } from "./random.ts";

describe("threefry2x32", () => {
  // The three lines "threefry2x32 20" of Random123's kat_vectors.
  it.each([
    { key: [0, 0], counter: [0, 0], out: [0x6b200159, 0x99ba4efe] },
    {
      key: [0xffffffff, 0xffffffff],
      counter: [0xffffffff, 0xffffffff],
      out: [0x1cb996fc, 0xbb002be7],
    },
    {
      key: [0x13198a2e, 0x03707344],
      counter: [0x243f6a88, 0x85a308d3],
      out: [0xc4923a9c, 0x483df7a0],
    },
  ])("gives Random123's known answer for key $key", ({ key, counter, out }) => {
    const block = new Uint32Array(2);
    threefry2x32([key[0]!, key[1]!], counter[0]!, counter[1]!, block);
    expect([...block]).toEqual(out);
  });
});

describe("exactLog", () => {
  it("is within 2 ulp of Math.log at every magnitude, including subnormals", () => {
    const random = Random.seeded(1);
    let worst = 0;
    for (let exponent = -1074; exponent <= 1023; exponent++) {
      for (let i = 0; i < 20; i++) {
        const value = 2 ** exponent * (1 + random.uniform());
        if (value < Infinity) worst = Math.max(worst, ulps(exactLog(value), Math.log(value)));
      }
    }
    expect(worst).toBeLessThanOrEqual(2);
  });

  it("keeps its relative precision near 1, where the logarithm vanishes", () => {
    for (const step of [2 ** -53, 2 ** -52, 1e-12, 1e-6, 1e-3, 0.1, 0.25]) {
      for (const value of [1 - step, 1 + step]) {
        expect(ulps(exactLog(value), Math.log(value))).toBeLessThanOrEqual(2);
      }
    }
    expect(exactLog(1)).toBe(0);
  });

  it.each([Number.MIN_VALUE, 2 ** -1022, Number.MAX_VALUE])(
    "handles the end %d of the range",
    (value) => {
      expect(ulps(exactLog(value), Math.log(value))).toBeLessThanOrEqual(2);
    },
  );

  it.each([0, -0, Infinity, -Infinity, -1, Number.NaN])("is Math.log at %d", (value) => {
    expect(exactLog(value)).toBe(Math.log(value));
  });
});

describe("distributions", () => {
  const N = 20_000;
  const sample = (draw: (random: Random) => number) => {
    const random = Random.seeded(7);
    return Float64Array.from({ length: N }, () => draw(random));
  };
  const EULER = 0.5772156649015329;
  // The sample variance has the relative standard error sqrt((2 + excess kurtosis) / N).
  it.each([
    {
      name: "uniform",
      values: sample((r) => r.uniform()),
      cdf: (z: number) => z,
      mean: 1 / 2,
      variance: 1 / 12,
      excess: -6 / 5,
    },
    {
      name: "normal",
      values: sample((r) => r.normal()),
      cdf: normalCdf,
      mean: 0,
      variance: 1,
      excess: 0,
    },
    {
      name: "gumbel",
      values: sample((r) => r.gumbel()),
      cdf: (z: number) => Math.exp(-Math.exp(-z)),
      mean: EULER,
      variance: Math.PI ** 2 / 6,
      excess: 12 / 5,
    },
  ])(
    "$name has its moments and passes Kolmogorov-Smirnov",
    ({ values, cdf, mean, variance, excess }) => {
      const m = values.reduce((sum, z) => sum + z, 0) / N;
      const s2 = values.reduce((sum, z) => sum + (z - m) ** 2, 0) / (N - 1);
      expect(Math.abs(m - mean)).toBeLessThan(3 * Math.sqrt(variance / N));
      expect(Math.abs(s2 / variance - 1)).toBeLessThan(3 * Math.sqrt((2 + excess) / N));
      expect(kolmogorovSmirnov(values, cdf)).toBeLessThan(1.63); // 1% of correct samples are above it
    },
  );

  it("uniform stays in [0, 1) and uses its last bits", () => {
    const values = sample((random) => random.uniform());
    expect(values.every((u) => u >= 0 && u < 1)).toBe(true);
    const odd = values.filter((u) => (u * 2 ** 53) % 2 === 1).length;
    expect(Math.abs(odd - N / 2)).toBeLessThan(3 * Math.sqrt(N / 4));
  });

  it("successive normals are uncorrelated, including the two of one draw", () => {
    const z = sample((random) => random.normal());
    for (const lag of [1, 2]) {
      const product = z.subarray(lag).reduce((sum, value, i) => sum + value * z[i]!, 0);
      expect(Math.abs(product)).toBeLessThan(3 * Math.sqrt(N));
    }
  });
});

describe("integer", () => {
  it.each([1, 2, 3, 7, 10, 1000])("covers 0..%d-1 evenly", (n) => {
    const random = Random.seeded(3).split(n);
    const counts = new Float64Array(n);
    const draws = 100 * n;
    for (let i = 0; i < draws; i++) counts[random.integer(n)]!++;
    const chi2 = counts.reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0);
    // Mean n - 1, variance 2 (n - 1).
    expect(Math.abs(chi2 - (n - 1))).toBeLessThanOrEqual(4 * Math.sqrt(2 * (n - 1)));
  });

  it("has no bias if 2^32 / n has the largest remainder", () => {
    // Taking the word modulo n = 3 * 2^30 would put half of all draws into the first third of the
    // range.
    const n = 3 * 2 ** 30;
    const random = Random.seeded(4);
    const draws = 30_000;
    let first = 0;
    for (let i = 0; i < draws; i++) if (random.integer(n) < n / 3) first++;
    expect(Math.abs(first - draws / 3)).toBeLessThan(3 * Math.sqrt((draws * 2) / 9));
  });

  it("reaches 2^32 values", () => {
    const random = Random.seeded(5);
    const values = Array.from({ length: 200 }, () => random.integer(2 ** 32));
    expect(values.every((value) => value >= 0 && value < 2 ** 32)).toBe(true);
    expect(Math.max(...values)).toBeGreaterThan(2 ** 32 * 0.95);
  });

  it.each([0, -1, 1.5, 2 ** 32 + 1, Number.NaN, Infinity])("rejects %d", (n) => {
    expect(() => Random.seeded(1).integer(n)).toThrow(RangeError);
  });
});

describe("shuffle", () => {
  it("gives each order of four equally often", () => {
    const random = Random.seeded(6);
    const counts = new Map<string, number>();
    for (let i = 0; i < 2400; i++) {
      const order = random.shuffle([0, 1, 2, 3]).join("");
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    const chi2 = [...counts.values()].reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0);
    expect(chi2).toBeLessThan(49.7); // 99.9% of chi-squared with 23 degrees
  });
});

describe("derangement", () => {
  it("gives each of the nine derangements of four items equally often, and no other order", () => {
    const random = Random.seeded(1);
    const counts = new Map<string, number>();
    for (let i = 0; i < 9000; i++) {
      const order = random.derangement(4);
      expect(order.some((k, at) => k === at)).toBe(false);
      expect(order.toSorted()).toEqual([0, 1, 2, 3]);
      counts.set(`${order}`, (counts.get(`${order}`) ?? 0) + 1);
    }
    expect(counts.size).toBe(9);
    // The standard deviation of a count is 30.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  it("rejects a single item", () => {
    expect(() => Random.seeded(1).derangement(1)).toThrow(RangeError);
    expect(Random.seeded(1).derangement(2)).toEqual([1, 0]);
  });
});

describe("split", () => {
  const first = (random: Random) => [random.uniform(), random.uniform()];

  it("gives the same stream for a label, whatever the parent has drawn", () => {
    const fresh = Random.seeded(1);
    const used = Random.seeded(1);
    for (let i = 0; i < 100; i++) {
      used.normal();
      used.split(i).uniform();
    }
    for (const label of ["vote", 0, 17]) {
      expect(first(used.split(label))).toEqual(first(fresh.split(label)));
    }
  });

  it("gives different streams for different labels, none of which is the stream of the parent", () => {
    const labels = [
      ...Array.from({ length: 2000 }, (_, i) => i - 1000),
      ...Array.from({ length: 2000 }, (_, i) => `${i - 1000}`),
      ...[2 ** 31, 2 ** 32, 2 ** 32 - 1, -(2 ** 32), -(2 ** 31), 2 ** 52],
      ...[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      // Pairs that share their 32-bit FNV-1a hash.
      ...["costarring", "liquid", "declinate", "macallums", "altarage", "zinke"],
      ...["", "a", "aa", "\0", "ab", "ba"],
    ];
    const random = Random.seeded(1);
    const streams = labels.map((label) => first(random.split(label)).join());
    expect(new Set([...streams, first(random).join()]).size).toBe(labels.length + 1);
  });

  it("gives children that are uncorrelated with each other and their parent", () => {
    const parent = Random.seeded(2);
    const streams = [parent, parent.split(0), parent.split(1), parent.split("0")];
    const N = 5000;
    const draws = streams.map((s) => Float64Array.from({ length: N }, () => s.normal()));
    for (const [i, a] of draws.entries()) {
      for (const b of draws.slice(i + 1)) {
        const product = a.reduce((sum, value, n) => sum + value * b[n]!, 0);
        expect(Math.abs(product)).toBeLessThan(3.5 * Math.sqrt(N));
      }
    }
  });

  it("depends on the path: a then b is not b then a", () => {
    const random = Random.seeded(1);
    expect(first(random.split("a").split("b"))).not.toEqual(first(random.split("b").split("a")));
    expect(first(random.split("a").split("b"))).not.toEqual(first(random.split("ab")));
  });

  it.each([0.5, Number.NaN, Infinity, 2 ** 53])("rejects the label %d", (label) => {
    expect(() => Random.seeded(1).split(label)).toThrow(RangeError);
  });
});

describe("seeded", () => {
  it("accepts every safe integer and gives different streams", () => {
    const seeds = [0, 1, -1, 2 ** 32, 2 ** 32 + 1, -(2 ** 32), 2 ** 53 - 1, -(2 ** 53) + 1];
    const streams = seeds.map((seed) => Random.seeded(seed).uniform());
    expect(new Set(streams).size).toBe(seeds.length);
  });

  it.each([Number.NaN, 0.5, Infinity, 2 ** 53])("rejects %d with a hint", (seed) => {
    expect(() => Random.seeded(seed)).toThrow(errorText(/integer.*hint/));
  });
});

/** These numbers must not change, because every recorded experiment depends on them. */
describe("known answers for seed 1", () => {
  it("uniform", () => {
    const random = Random.seeded(1);
    expect(Array.from({ length: 5 }, () => random.uniform())).toEqual([
      0.11815024488772985, 0.2586038205183311, 0.45611219391260494, 0.9847664502979018,
      0.8851280046659982,
    ]);
  });
  it("normal", () => {
    const random = Random.seeded(1);
    expect(Array.from({ length: 5 }, () => random.normal())).toEqual([
      -0.9915968736890235, -0.17794815063748337, -0.805556673402963, -0.8606638723851604,
      -0.802771611101937,
    ]);
  });
  it("gumbel", () => {
    const random = Random.seeded(1);
    expect(Array.from({ length: 5 }, () => random.gumbel())).toEqual([
      -0.7588404422278404, -0.30192370641487065, 0.24205059269546392, 4.176589498674466,
      2.103545675038725,
    ]);
  });
  it("integer", () => {
    const random = Random.seeded(1);
    expect(Array.from({ length: 12 }, () => random.integer(10))).toEqual([
      5, 4, 4, 5, 1, 6, 1, 3, 0, 4, 2, 6,
    ]);
  });
  it("shuffle", () => {
    const order = Random.seeded(1).shuffle([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(order).toEqual([6, 7, 0, 4, 1, 8, 3, 2, 9, 5]);
  });
  it("split", () => {
    const random = Random.seeded(1);
    const labels = ["vote", 1, -1, 2 ** 40];
    expect(labels.map((label) => random.split(label).uniform())).toEqual([
      0.2803729746800744, 0.9939416130615392, 0.16003156572852872, 0.0785049463976365,
    ]);
  });
});

/** Returns the number of doubles between two of the same sign. */
function ulps(a: number, b: number): number {
  const [p, q] = new BigInt64Array(Float64Array.of(a, b).buffer);
  return a === b ? 0 : Math.abs(Number(p! - q!));
}

/** sqrt(n) sup |F_n - F| */
function kolmogorovSmirnov(values: Float64Array, cdf: (z: number) => number): number {
  const n = values.length;
  const gaps = values.toSorted().map((z, i) => Math.max((i + 1) / n - cdf(z), cdf(z) - i / n));
  return Math.sqrt(n) * Math.max(...gaps);
}

/** Abramowitz and Stegun 7.1.26; off by at most 1.5e-7. */
function normalCdf(z: number): number {
  const t = 1 / (1 + (0.3275911 * Math.abs(z)) / Math.SQRT2);
  const series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const tail = series.reduce((sum, c) => (sum + c) * t, 0) * Math.exp((-z * z) / 2);
  return z > 0 ? 1 - tail / 2 : tail / 2;
}
