import { expect, it } from "vitest";
import { commandsFor } from "./index.ts";

it("every command has a line in the help, and is whole where it is named", async () => {
  const lines = await commandsFor([]);
  expect(lines.every((command) => command.summary() !== "")).toBe(true);
  const names = lines.map((command) => command.name());
  const whole = await commandsFor(names);
  expect(whole.map((command) => command.name())).toEqual(names);
  expect(whole.filter((command) => command.description() === "")).toEqual([]);
});
