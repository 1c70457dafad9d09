import { describe, expect, it } from "vitest";
import {
  ago,
  clockTime,
  dollars,
  duration,
  percent,
  plural,
  probability,
  signed,
  timeLabels,
} from "./format.ts";

describe("dollars", () => {
  it.each([
    [0, "$0"],
    [0.000_000_01, "<$0.0000001"],
    [0.000_421, "$0.00042"],
    [0.0309, "$0.031"],
    [0.5, "$0.50"],
    [0.999, "$1.00"],
    [1.234, "$1.23"],
    [999.5, "$999.50"],
    [12_345.6, "$12,346"],
    [-0.0042, "\u2212$0.0042"],
  ])("%d is %s", (value, text) => expect(dollars(value)).toBe(text));
});

describe("percent", () => {
  it.each([
    [0, "0%"],
    [0.0003, "0.03%"],
    [0.0421, "4.2%"],
    [0.0996, "10%"],
    [0.71, "71%"],
    [-0.02, "\u22122.0%"],
    [1, "100%"],
  ])("%d is %s", (value, text) => expect(percent(value)).toBe(text));
});

it("a probability is never 0% or 100%", () => {
  const all = [0, 0.004, 0.01, 0.5, 0.99, 0.9999, 1].map(probability);
  expect(all).toEqual(["under 1%", "under 1%", "1.0%", "50%", "99%", "over 99%", "over 99%"]);
});

it("durations, signs and counts", () => {
  expect([
    duration(12.4),
    duration(994),
    duration(999),
    duration(61_000),
    duration(180_000),
  ]).toEqual(["12 ms", "994 ms", "1.0 s", "61.0 s", "3 min"]);
  expect([signed(0.1234), signed(-0.5, 1)]).toEqual(["+0.123", "\u22120.5"]);
  expect([signed(0), signed(-0.0004), signed(0.004, 2)]).toEqual(["0.000", "0.000", "0.00"]);
  expect([plural(1, "vote"), plural(1200, "vote")]).toEqual(["1 vote", "1,200 votes"]);
});

it("ages", () => {
  const now = Date.UTC(2026, 10, 15, 12);
  const seconds = [0, 4, 12, 61, 7200];
  const ages = seconds.map((age) => ago(now - 1000 * age, now));
  expect(ages).toEqual(["just now", "just now", "12 s ago", "1 min ago", "2 h ago"]);
  expect(ago(now - 86_400_000 * 2, now)).toBe("Nov 13");
});

it("labels of a time axis get coarser with its span", () => {
  const after = (milliseconds: number) => new Date(1_700_000_000_000 + milliseconds).toISOString();
  const lengths = (span: number) => timeLabels([after(0), after(span)]).map((text) => text.length);
  expect(lengths(60_000)).toEqual(["12:05:30".length, "12:05:30".length]);
  expect(lengths(3_600_000)).toEqual(["12:05".length, "12:05".length]);
  expect(timeLabels([after(0), after(7 * 86_400_000)])[0]).toMatch(/^Nov 1[45]$/);
  expect(timeLabels([])).toEqual([]);
});

it("the hour after midnight is 00", () => {
  const midnight = new Date(2026, 10, 15, 0, 5);
  expect(clockTime(midnight.getTime())).toBe("Nov 15, 2026, 00:05:00");
  expect(timeLabels([midnight.toISOString()])).toEqual(["00:05:00"]);
});
