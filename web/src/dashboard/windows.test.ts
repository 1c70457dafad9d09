import { expect, it } from "vitest";
import { windowsFor } from "./windows.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const point = (daysAgo: number, requests = 1) => ({
  at: new Date(NOW - daysAgo * 86_400_000).toISOString(),
  requests,
  duels: 0,
  votes: 0,
  cost: 0,
  given: {},
});
const found = (...days: number[]) => {
  const series = days.toSorted((a, b) => b - a).map((day) => point(day));
  const { windows, hours } = windowsFor({ series }, NOW);
  return [windows.at(-1)!.text, hours];
};

it("offers no window that is longer than the data needs", () => {
  expect(windowsFor(undefined, NOW).windows.map(({ value }) => value)).toEqual(["1", "24"]);
  expect(found(0.01)).toEqual(["Last day", "24"]);
  expect(found(3, 0.01)).toEqual(["Last week", "24"]);
  expect(found(20, 0.01)).toEqual(["Last month", "24"]);
  expect(found(200, 0.01)).toEqual(["Last year", "24"]);
});

it("starts with the shortest window that has requests, but not with less than a day", () => {
  expect(found(200, 30)[1]).toBe("720");
  expect(found(200)[1]).toBe("8760");
  const empty = { series: [point(100), point(0, 0)] };
  expect(windowsFor(empty, NOW).hours).toBe("8760");
});

it("offers the window that was picked, although the data of another router does not need it", () => {
  const { windows, hours } = windowsFor({ series: [point(0.01)] }, NOW, "720");
  expect([windows.at(-1)!.value, hours]).toEqual(["720", "720"]);
});
