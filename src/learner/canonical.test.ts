import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPolicy } from "../core/bandit/options.ts";
import { POLICIES } from "../core/bandit/policies/index.ts";
import { easyProblem } from "../core/bandit/policy.case.ts";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { Random } from "../core/random/random.ts";
import { fromBytes, toBytes } from "./canonical.ts";

const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(undefined, null, true, false, Number.NaN, -0, Infinity),
    fc.double(),
    fc.string({ unit: "binary" }),
    fc.constant("\ud800 alone"),
    fc.float64Array(),
    fc.float32Array(),
    fc.int32Array(),
    fc.uint8Array(),
    fc.array(tie("value")),
    fc.dictionary(fc.string(), tie("value")),
    fc.array(fc.tuple(fc.string(), tie("value"))).map((entries) => new Map(entries)),
    fc.array(fc.string()).map((items) => new Set(items)),
  ),
})).value;

describe("toBytes", () => {
  it("round-trips every plain value", () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(fromBytes(toBytes(value))).toStrictEqual(withPrototype(value));
      }),
      { seed: 1 },
    );
  });

  it("gives equal values equal bytes, whatever the order of keys", () => {
    expect(toBytes({ b: [1, -0], a: "x" })).toEqual(toBytes({ a: "x", b: [1, -0] }));
    expect(toBytes(-Number.NaN)).toEqual(toBytes(Number.NaN));
    expect(toBytes(-0)).not.toEqual(toBytes(0));
    expect(toBytes([1])).not.toEqual(toBytes(Float64Array.of(1)));
    expect(toBytes({ a: undefined })).not.toEqual(toBytes({}));
  });

  it("refuses a value it cannot restore and names its place", () => {
    const date = { beliefs: [1, { at: new Date() }] };
    expect(() => toBytes(date)).toThrow(errorText(/state\.beliefs\[1\]\.at is a Date; hint:/));
    expect(() => toBytes(() => 1)).toThrow(/state is a function/);
  });

  it("refuses bytes that it did not write", () => {
    const bytes = toBytes({ a: [1, 2, Float64Array.of(3)] });
    expect(() => fromBytes(bytes.subarray(0, -1))).toThrow(RangeError);
    expect(() => fromBytes(Uint8Array.of(...bytes, 0))).toThrow(/unexpected bytes/);
    expect(() => fromBytes(Uint8Array.of(1))).toThrow(/unknown tag/);
  });
});

it.each(POLICIES.map((kind) => [kind.name, kind] as const))(
  "a policy %s restored from its bytes continues bit for bit",
  (_, kind) => {
    const problem = easyProblem(1);
    const create = () =>
      createPolicy(
        kind,
        problem.pool,
        {},
        { utilities: problem.oracleKnows, bestFixed: 0, stream: [] },
      );
    const learn = (policy: ReturnType<typeof create>, from: number, to: number) => {
      for (let t = from; t < to; t++) {
        const pair = [t % 4, (t * 7 + 1) % 4] as const;
        const outcome = t % 3 === 0 ? "a" : t % 3 === 1 ? "b" : "tie";
        policy.learn({ kind: "duel", x: problem.at(t).x, pair, outcome }, Random.seeded(t));
      }
    };
    const policy = create();
    learn(policy, 0, 20);
    const copy = create();
    copy.restore(fromBytes(toBytes(policy.snapshot())) as ReturnType<typeof policy.snapshot>);
    learn(policy, 20, 40);
    learn(copy, 20, 40);
    expect(toBytes(copy.snapshot())).toEqual(toBytes(policy.snapshot()));
  },
);

/** Gives records an ordinary prototype: fast-check creates them without one. */
function withPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPrototype);
  if (value instanceof Map) return new Map([...value].map(([k, v]) => [k, withPrototype(v)]));
  if (value instanceof Set || ArrayBuffer.isView(value)) return value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, withPrototype(v)]));
}
