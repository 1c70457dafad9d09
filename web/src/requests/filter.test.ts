import { expect, it } from "vitest";
import { filterOf, queryOf, requestsHref } from "./filter.ts";

const NOW = Date.UTC(2026, 10, 16, 12);

it("survives the URL", () => {
  const filter = { text: "a & b = c?", outcome: "failed", min_seconds: "2.5" };
  const href = requestsHref({ ...filter, model: "" });
  expect(filterOf(href.slice(href.indexOf("?")))).toEqual(filter);
  expect(requestsHref({ model: "" })).toBe("#/requests");
  expect(filterOf("?other=1&vote=")).toEqual({});
});

it("becomes the query of the gateway", () => {
  expect(queryOf({ hours: "24", min_seconds: "2.5", max_cost: "0.01" }, NOW)).toEqual({
    since: "2026-11-15T12:00:00.000Z",
    min_latency_ms: 2500,
    max_cost: 0.01,
  });
  const custom = { hours: "custom", from: "2026-11-01T10:00", to: "" };
  const { since, until } = queryOf(custom, NOW);
  expect(since).toBe(new Date("2026-11-01T10:00").toISOString());
  expect(until).toBeUndefined();
  // The dates of a custom span do not count while another span is chosen.
  expect(queryOf({ ...custom, hours: "1" }, NOW).since).toBe("2026-11-16T11:00:00.000Z");
  expect(queryOf({ min_cost: "-1", max_seconds: "x" }, NOW)).toEqual({});
});
