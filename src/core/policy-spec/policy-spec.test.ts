import { basename, dirname } from "node:path";
import { expect, it } from "vitest";
import mine from "../../../examples/mine.ts";
import { POLICIES } from "../bandit/policies/index.ts";
import { conforms } from "../bandit/policy.case.ts";
import { errorText } from "../errors/error-text.fixture.ts";
import { temporaryFolder } from "../input/folder.fixture.ts";
import { InputError } from "../input/input-error.ts";
import { contenderOf, parsePolicies } from "./policy-spec.ts";

const write = temporaryFolder();
const KIND = `export default {
  name: "toy", summary: "toys", defaults: { n: 1, on: false, how: "well" },
  create: () => ({ choose() {}, learn() {}, snapshot() {}, restore() {} }),
};`;
const toy = write("toy.mjs", KIND);
const folder = dirname(toy);
write(
  "bounded.mjs",
  KIND.replace('"toy"', '"bounded", about: { n: { meaning: "how many", max: 8 } }'),
);

conforms(mine, { learns: "one record for all categories cannot be best in three" });

it("reads names, options by the type of their default, and files", async () => {
  const text = "random, fgts-cdb:steps=7:centred=true:weighting=perf ,./toy.mjs:n=-2.5e1:on=true";
  const [first, second, third] = await parsePolicies(text, folder);
  expect(first).toEqual({ name: "random", kind: "random", options: {}, router: {} });
  const { defaults } = POLICIES.find(({ name }) => name === "fgts-cdb")!;
  expect(second!.name).toBe("fgts-cdb:steps=7:centred=true:weighting=perf");
  expect(second!.options).toEqual({ ...defaults, steps: 7, centred: true, weighting: "perf" });
  expect(third).toMatchObject({ kind: "toy", options: { n: -25, on: true, how: "well" } });
  expect(third!.module!.sha256).toMatch(/^[0-9a-f]{64}$/);
});

it("passes the router's options to the router", async () => {
  const [spec] = await parsePolicies("random:pending=0:weighVoters=true", folder);
  expect(spec!.router).toEqual({ pending: 0, weighVoters: true });
  expect(spec!.options).toEqual({});
});

it("can be sent to a worker", async () => {
  const specs = await parsePolicies("greedy:duels=3,./toy.mjs:n=2", folder);
  const [greedy, own] = await Promise.all(structuredClone(specs).map(contenderOf));
  expect(greedy!.kind).toBe(POLICIES.find(({ name }) => name === "greedy"));
  expect(greedy!.options.duels).toBe(3);
  expect(own!.kind.name).toBe("toy");
});

it("does not name a policy after a folder of this machine", async () => {
  const [spec] = await parsePolicies(`${toy}:n=2`, "/");
  expect(spec!.name).toBe("toy.mjs:n=2");
});

it.each([
  ["jost", /is not a policy; hint: did you mean "joust"\? there are .*random.*\.\/mine\.ts/],
  ["", /names no policy; hint: there are/],
  ["random,,greedy", /names no policy/],
  ["random,random", /random: is named twice/],
  ["fgts-cdb:stpes=3", /stpes=3: has no option "stpes"; hint: did you mean "steps"\?.* steps=5/],
  ["random:x=1", /has no option "x"; .*no options of its own; every policy takes explore/],
  ["random:__proto__=1", /has no option "__proto__"/],
  ["fgts-cdb:steps", /gives "steps" no value; hint: write steps=5/],
  ["fgts-cdb:steps=", /gives "steps" no value/],
  ["fgts-cdb:steps=many", /steps is "many", not a number/],
  ["fgts-cdb:steps=Infinity", /steps is "Infinity", not a number/],
  ["fgts-cdb:centred=yes", /centred is "yes"; hint: write centred=true or centred=false/],
  ["fgts-cdb:weighting=mine", /weighting of fgts-cdb is mine; hint: give weighting one of /],
  ["joust:rule=pair", /joust no longer has the option rule; hint: remove it: joust now duels/],
  ["joust:drift=2", /drift of joust is 2; hint: give drift above 0 and at most 1/],
  ["joust:alpha=2", /joust no longer has the option alpha; hint: remove it: horizon sets/],
  ["joust:horizon=0", /horizon of joust is 0; hint: give horizon 1 or more/],
  ["fgts-cdb:sd=0", /sd of fgts-cdb is 0; hint: give sd above 0/],
  ["fgts-cdb:features=cubes", /features of fgts-cdb is cubes; hint: .*hadamard, addition, cat/],
  ["eagle:K=-5", /K of eagle is -5; hint: give K above 0/],
  ["eagle:N=2.5", /N of eagle is 2\.5; hint: give N a whole number, 1 or more/],
  ["random:explore=3", /explore of the router is 3; hint: give explore from 0 to 1/],
  ["joust:budget=-1", /budget of the router is -1; hint: give budget 0 or more/],
  ["./bounded.mjs:n=9", /n of bounded is 9; hint: give n at most 8/],
  ["./nowhere.ts", /^\.\/nowhere\.ts: does not exist/],
])("refuses %s", async (text, message) => {
  await refused(text, message);
});

it.each<[string, string, RegExp]>([
  ["nothing", "", /has no default export that is a PolicyKind; hint: export default \{ name/],
  ["a function", "export default () => {};", /has no default export/],
  [
    "half a kind",
    'export default { name: "half", defaults: { n: null }, about: { n: 1 } };',
    /lacks summary \(.*\), defaults \(.*\), about \(.*\), create \(/,
  ],
  [
    "a broken file",
    "export default {",
    /cannot be imported: .*; hint: correct it: npx node \.\/a-broken-file/,
  ],
  [
    "an error",
    'throw new Error("no luck");',
    /cannot be imported: Error: no luck.*hint: .* npx node/,
  ],
])("refuses a file with %s", async (label, text, message) => {
  const path = write(`${label.replaceAll(" ", "-")}.mjs`, text);
  await refused(`./${basename(path)}`, message);
});

async function refused(text: string, message: RegExp): Promise<void> {
  const error = await parsePolicies(text, folder).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toEqual(errorText(message));
}

it("the caller's defaults apply to policies that allow their values, unless the user sets the option", async () => {
  const fitted = { weighting: "fitted" };
  const specs = await parsePolicies("fgts-cdb,fgts-cdb:weighting=perf,random", "/", fitted);
  const [bundled, typed, random] = specs.map(({ options }) => options);
  expect(bundled!.weighting).toBe("fitted");
  expect(typed!.weighting).toBe("perf");
  expect(random).not.toHaveProperty("weighting");
});
