import { expect, it } from "vitest";
import { checkFiniteText, infiniteField } from "./infinite.ts";

it.each([
  ['{"a":[1,{"b":-1e999}]}', "a[1].b"],
  ['[0,"1e999",null,[1e400]]', "[3][0]"],
  [`{"a":${"9".repeat(250)}e99}`, "a"],
  [`{"a":{"b":${"9".repeat(310)}}}`, "a.b"],
  ['{"a":1e308,"b":"1e999","c":1e-999}', undefined],
])("finds a number that is too large: %s", (json, path) => {
  expect(infiniteField(JSON.parse(json))).toBe(path);
  const check = () => checkFiniteText(json, "");
  if (path === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(`${path}: is too large for a number`);
});
