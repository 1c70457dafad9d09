import { describe, expect, it } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { ROUTER_ABOUT, ROUTER_DEFAULTS } from "../router.ts";
import { checkOptions, createPolicy, rangeOf, withoutRemoved } from "./options.ts";
import { POLICIES } from "./policies/index.ts";
import { easyProblem } from "./policy.case.ts";
import type { Hindsight, OptionAbout, PolicyKind } from "./policy.ts";

const { pool, oracleKnows } = easyProblem(1);
const hindsight: Hindsight = { utilities: oracleKnows, bestFixed: 0, stream: [] };

describe.each([
  ...POLICIES.map(({ name, defaults, about }) => ({ name, defaults, about })),
  { name: "the router", defaults: ROUTER_DEFAULTS, about: ROUTER_ABOUT },
])("$name", ({ name, defaults, about }) => {
  it("describes every option and no other", () => {
    expect(Object.keys(about!)).toEqual(Object.keys(defaults));
    for (const { meaning } of Object.values(about!)) expect(meaning).not.toBe("");
  });

  it("has defaults that pass its own checks", () => {
    expect(() => checkOptions(name, defaults, about)).not.toThrow();
  });

  it("bounds every number and lists the values of every word", () => {
    for (const [key, value] of Object.entries(defaults)) {
      if (typeof value !== "boolean") expect(rangeOf(about![key as never])).not.toBe("");
    }
  });
});

describe("options of earlier versions", () => {
  const joust = POLICIES.find(({ name }) => name === "joust")!;

  it("are refused with a hint", () => {
    expect(() => createPolicy(joust, pool, { alpha: 2 })).toThrow(
      errorText(/joust no longer has the option alpha; hint: remove it: horizon sets/),
    );
  });

  it("are left out of the options of a log", () => {
    const options = { rule: "pair", alpha: 2, patience: 0.1, ties: 1 };
    expect(withoutRemoved(joust, options)).toEqual({ ties: 1 });
  });
});

describe("checkOptions", () => {
  it.each<[OptionAbout, number | string, string]>([
    [{ meaning: "", min: 0 }, -1, "0 or more"],
    [{ meaning: "", max: 2 }, 3, "at most 2"],
    [{ meaning: "", min: 0, max: 1 }, 1.1, "from 0 to 1"],
    [{ meaning: "", above: 0 }, 0, "above 0"],
    [{ meaning: "", above: 0, below: 1 }, 1, "above 0 and below 1"],
    [{ meaning: "", above: 0, max: 1 }, 2, "above 0 and at most 1"],
    [{ meaning: "", integer: true, min: 1 }, 1.5, "a whole number, 1 or more"],
    [{ meaning: "", integer: true }, 2 ** 60, "a whole number"],
    [{ meaning: "", oneOf: ["x", "y"] }, "z", "one of x, y"],
    [{ meaning: "", min: 0 }, Number.NaN, "0 or more"],
    [{ meaning: "", min: 0 }, Infinity, "0 or more"],
    [{ meaning: "" }, Number.NaN, "a number"],
  ])("of %o refuses %s", (about, value, range) => {
    expect(() => checkOptions("toy", { n: value }, { n: about })).toThrow(
      expect.objectContaining({ message: `n of toy is ${value}`, hint: `give n ${range}` }),
    );
  });

  it("accepts the inclusive bounds, and options without a description", () => {
    checkOptions("toy", { n: 0 }, { n: { meaning: "", min: 0, max: 1 } });
    checkOptions("toy", { n: 1 }, { n: { meaning: "", min: 0, max: 1 } });
    checkOptions("toy", { n: -5, toString: 1, how: "well" });
    expect(() => checkOptions("toy", { n: Number.NaN })).toThrow(errorText("n of toy is NaN"));
  });
});

describe("createPolicy", () => {
  it("fills in the defaults, and rejects values out of range and unknown options", () => {
    const seen: unknown[] = [];
    const kind = toy((options) => seen.push(options));
    createPolicy(kind, pool, { n: 3 });
    expect(seen).toEqual([{ n: 3, on: false }]);
    expect(() => createPolicy(kind, pool, { n: -1 })).toThrow(errorText("n of toy is -1"));
    const typo: object = { m: 3 };
    expect(() => createPolicy(kind, pool, typo)).toThrow(
      errorText("toy has no option m; hint: its options are n, on"),
    );
    expect(seen.length).toBe(1);
  });

  it("passes hindsight only to kinds that declare that they need it", () => {
    const seen: unknown[] = [];
    const kind = toy((_, given) => seen.push(given));
    createPolicy(kind, pool, {}, hindsight);
    createPolicy({ ...kind, needsHindsight: true }, pool, {}, hindsight);
    expect(seen).toEqual([undefined, hindsight]);
    const needy = POLICIES.filter(({ needsHindsight }) => needsHindsight).map(({ name }) => name);
    expect(needy).toEqual(["best-fixed", "best-theta", "oracle"]);
  });
});

function toy(
  onCreate: (options: object, hindsight?: Hindsight) => void,
): PolicyKind<{ n: number; on: boolean }> {
  const random = POLICIES.find(({ name }) => name === "random")!;
  return {
    name: "toy",
    summary: "toys",
    defaults: { n: 1, on: false },
    about: { n: { meaning: "how many", min: 0 }, on: { meaning: "whether" } },
    create(pool, options, hindsight) {
      onCreate(options, hindsight);
      return random.create(pool, {});
    },
  };
}
