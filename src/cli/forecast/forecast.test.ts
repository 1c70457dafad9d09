import { expect, it } from "vitest";
import { forecastText } from "./forecast.ts";

it.each([
  [5.2, "Both answers of these duels cost about $2.45 (90% interval: $0.42 to $5.20)."],
  [null, "Both answers of these duels cost about $2.45 (90% interval: $0.42 or more)."],
])("states the interval of the cost if its end is %j", (hi, sentence) => {
  const text = forecastText("auto", {
    verdict: "later",
    sure: 0.4,
    reached: 0.85,
    votes: { median: 350, lo: 60, hi: null },
    dollars: { median: 2.45, lo: 0.42, hi },
    horizon: 3000,
    futures: 60,
    version: 1,
    learned: 60,
  });
  expect(text).toContain(
    "About 350 more votes until it is 95% (90% interval: 60 to more than 3000).",
  );
  expect(text).toContain(sentence);
});
