import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { withPlace } from "./configuration.ts";

const write = temporaryFolder();
const errorOf = (field: string) =>
  new InputError({ file: "joust.yaml", field }, "is odd", "fix it");

it.each([
  ["server.host", { host: "0.0.0.0" }, "--host: is odd"],
  ["server.port", { port: 1 }, "--port: is odd"],
  ["server.host", { port: 1 }, ':2: field "server.host": is odd'],
  ["server.port", {}, ':3: field "server.port": is odd'],
])("an error about %s with %j names the place of the value", async (field, flags, text) => {
  const file = write("joust.yaml", "server:\n  host: 0.0.0.0\n  port: 1\n");
  await expect(Promise.reject(await withPlace(errorOf(field), file, flags))).rejects.toThrow(
    errorText(text),
  );
});

it("without a file, an error names the field or the option", async () => {
  expect(String(await withPlace(errorOf("server.port"), undefined, {}))).toContain(
    "server.port: is",
  );
  const flags = { port: 1 };
  expect(String(await withPlace(errorOf("server.port"), undefined, flags))).toContain("--port: is");
});

it("other errors are unchanged", async () => {
  const other = new Error("other");
  expect(await withPlace(other, undefined, { host: "x" })).toBe(other);
  expect(await withPlace(other, "joust.yaml", { host: "x" })).toBe(other);
});
