import { Counter, Histogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { SeriesCounter, SeriesHistogram } from "./series.ts";

const buckets = [0.1, 0.5, 2];

it("prints the same text as the metrics of prom-client", async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const counters = { name: "answers_total", help: "Answers.", labelNames: ["model", "status"] };
  const times = { name: "seconds", help: "Times.", labelNames: ["model"], buckets };
  const plain = { name: "added_seconds", help: "Time.", buckets };
  const own = {
    counter: new SeriesCounter({ ...counters, registers: [ours] }),
    histogram: new SeriesHistogram({ ...times, registers: [ours] }),
    plain: new SeriesHistogram({ ...plain, registers: [ours] }),
  };
  const reference = {
    counter: new Counter({ ...counters, registers: [theirs] }),
    histogram: new Histogram({ ...times, registers: [theirs] }),
    plain: new Histogram({ ...plain, registers: [theirs] }),
  };
  own.plain.series();
  for (const isLast of [false, true]) {
    for (const [model, status, value] of [
      ["a", "ok", 0.1],
      ["a", "ok", 0.25],
      ["b", "failed", 3],
      ["a", "failed", 0],
      ["b", "ok", 0.5],
    ] as const) {
      own.counter.series(model, status).inc();
      own.counter.inc({ model, status: "other" }, value);
      own.histogram.series(model).observe(value);
      reference.counter.labels(model, status).inc();
      reference.counter.inc({ model, status: "other" }, value);
      reference.histogram.labels(model).observe(value);
      if (isLast) own.plain.series().observe(value);
      if (isLast) reference.plain.observe(value);
    }
    expect(sorted(await ours.metrics())).toEqual(sorted(await theirs.metrics()));
  }
});

/** Lines in alphabetical order, because series are printed in the order in which they were first used. */
function sorted(text: string): string[] {
  return text.split("\n").toSorted();
}

it("has no series before the first value, and a series of zero after it", async () => {
  const registry = new Registry();
  const options = { name: "spend_total", help: "Spending.", labelNames: ["model"] };
  const counter = new SeriesCounter({ ...options, registers: [registry] });
  const series = counter.series("a");
  expect(await registry.metrics()).not.toContain("model");
  series.inc(0);
  expect(await registry.metrics()).toContain('spend_total{model="a"} 0');
});
