import { expect, it } from "vitest";
import { checkedAt, InputError } from "../input/input-error.ts";
import { formatError, formatErrorLine, hintOf, invalidValue, JoustError } from "./joust-error.ts";

const PLACE = { file: "joust.yaml", line: 3, field: "n" };
const invalid = () => {
  throw invalidValue("is 0", "give n above 0");
};

it("message and hint are separate fields, which formatError and formatErrorLine join", () => {
  const error = new JoustError("the disk is full", { code: "disk_full", hint: "delete a file" });
  expect(error).toMatchObject({ message: "the disk is full", code: "disk_full" });
  expect(hintOf(error)).toBe("delete a file");
  expect(formatError(error)).toBe("the disk is full\nhint: delete a file");
  expect(formatErrorLine(error)).toBe("the disk is full; hint: delete a file");
});

it.each([new Error("broken"), "broken"])("%s has no hint", (error) => {
  expect(hintOf(error)).toBeUndefined();
  expect(formatErrorLine(error)).toBe("broken");
});

it("checkedAt adds the place to the error of a check", () => {
  const error = new InputError(PLACE, "is 0", "give n above 0");
  expect(error.message).toBe('joust.yaml:3: field "n": is 0');
  expect(() => checkedAt(PLACE, invalid)).toThrow(error);
  expect(checkedAt(PLACE, () => 1)).toBe(1);
});

it("checkedAt passes on errors that are not about the value", () => {
  const defect = new TypeError("undefined is not a function");
  const check = () => {
    throw defect;
  };
  expect(() => checkedAt(PLACE, check)).toThrow(defect);
});
