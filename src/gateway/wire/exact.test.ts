import { expect, it } from "vitest";
import { exactJson, isExact } from "./exact.ts";
import { isRecord } from "./json.ts";

it.each([
  '{"id":1234567890123456789}',
  "[-9007199254740993,9007199254740993,12345678901234567890123]",
  '{"text":"1234567890123456789","deep":[{"n":10000000000000000000}]}',
  '{"a":1,"b":[null,true,"x"]}',
])("writes %s again as it was", (text) => {
  expect(JSON.stringify(exactJson(text))).toBe(text);
});

it("keeps numbers that fit as numbers", () => {
  expect(exactJson("[9007199254740991,0.25,1e300]")).toEqual([2 ** 53 - 1, 0.25, 1e300]);
});

it("does not take a large integer for an object", () => {
  const value = exactJson("1234567890123456789");
  expect(isExact(value)).toBe(true);
  expect(isRecord(value)).toBe(false);
});

it("throws for a text that is not JSON", () => {
  expect(() => exactJson("{1234567890123456789")).toThrow(SyntaxError);
});
