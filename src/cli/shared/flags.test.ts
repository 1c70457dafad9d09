import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { folder, names, number, time, word } from "./flags.ts";

const rounds = number("--rounds", { from: 1, to: 100, whole: true, example: 50 });
const seed = number("--seed", { from: -Infinity, whole: true, example: 1 });
const lambda = number("--lambda", { from: 0, example: 0.05 });

it("reads valid values", () => {
  expect([rounds("1"), rounds("1e2"), seed("-3"), lambda("0.05"), lambda(" 2 ")]).toEqual([
    1, 100, -3, 0.05, 2,
  ]);
  expect(names("--models")("a, b")).toEqual(["a", "b"]);
  expect(word("--stream", ["shuffled", "uniform"])("uniform")).toBe("uniform");
  expect(folder("--out")("a dir/-b")).toBe("a dir/-b");
});

it("reads dates in UTC, times with their zone, and other times in local time", () => {
  const until = time("--until");
  expect(until("2026-11-15T12:00:00Z")).toBe(Date.UTC(2026, 10, 15, 12));
  expect(until("2026-11-15T12:00:00.5+01:00")).toBe(Date.UTC(2026, 10, 15, 11, 0, 0, 500));
  expect(until("2024-02-29")).toBe(Date.UTC(2024, 1, 29));
  expect(until("2026-11-15T12:00")).toBe(new Date(2026, 10, 15, 12).getTime());
  expect(until("2026-11-15 12:00:07")).toBe(new Date(2026, 10, 15, 12, 0, 7).getTime());
});

it.each<readonly [(text: string) => unknown, string, string]>([
  [
    rounds,
    "0",
    "--rounds: is 0, below 1; hint: give a whole number from 1 to 100, for example --rounds 50",
  ],
  [rounds, "101", "--rounds: is 101, above 100"],
  [rounds, "1.5", "--rounds: is 1.5, not a whole number"],
  [rounds, "x", '--rounds: is "x", not a number'],
  [rounds, "", '--rounds: is "", not a number'],
  [rounds, "NaN", '--rounds: is "NaN", not a number'],
  [lambda, "Infinity", '--lambda: is "Infinity", not a number'],
  [lambda, "-1", "--lambda: is -1, below 0; hint: give a number from 0, for example --lambda 0.05"],
  [seed, "9007199254740993", "--seed: is 9007199254740993, not a whole number"],
  [names("--models"), "a,,b", '--models: "a,,b" has an empty name'],
  [word("--stream", ["shuffled", "uniform"]), "uniforn", 'did you mean "uniform"?'],
  [folder("--out"), "--json", '--out: is "--json", not a folder'],
  ...["12", "2026", "30d ago 5", "Nov 5", "2026-02-30", "2026-13-01", "2026-11-15T25:00"].map(
    (text) => [time("--until"), text, `"${text}" is not a time`] as const,
  ),
  [time("--until"), "soon", '--until: "soon" is not a time; hint: write for example --until 2026'],
])("refuses %o %s", (read, text, message) => {
  expect(() => read(text)).toThrow(InputError);
  expect(() => read(text)).toThrow(errorText(message));
});
