import { didYouMean } from "../../core/input/nearest.ts";
import type { Config } from "../config/config.ts";
import { HttpError } from "../wire/http-error.ts";

/** A metric as joust.yaml declares it. */
type Metric = Config["metrics"][string];
export type Metrics = Config["metrics"];

export type MetricValue = boolean | number;

/**
 * Converts the value of a declared metric to a rating from -1 (worst) to 1 (best). A number
 * outside the range counts as the end of the range, a rating outside of it is refused.
 */
export function ratingOf(metrics: Metrics, name: string, value: MetricValue): number {
  const metric = declared(metrics, name, value);
  const { type, min = 0, max = 1, direction } = metric;
  const isBoolean = typeof value === "boolean";
  if (isBoolean !== (type === "boolean")) {
    const expected = type === "boolean" ? "true or false" : `a number from ${min} to ${max}`;
    throw invalid(name, `is ${JSON.stringify(value)}, not ${expected}`);
  }
  const number = Number(value);
  if (type === "rating" && (number < min || number > max)) {
    throw invalid(name, `is ${number}, not between ${min} and ${max}`);
  }
  const inside = Math.min(max, Math.max(min, number));
  const rating = (2 * (inside - min)) / (max - min) - 1;
  return direction === "lower" ? 0 - rating : rating;
}

function declared(metrics: Metrics, name: string, value: MetricValue): Metric {
  const metric = Object.hasOwn(metrics, name) ? metrics[name] : undefined;
  if (metric) return metric;
  const shown = name.slice(0, 64);
  const type = typeof value === "boolean" ? "boolean" : "number, min: 0, max: 1";
  const nearest = didYouMean(shown, Object.keys(metrics));
  throw new HttpError(400, `the metric ${JSON.stringify(shown)} is not declared`, {
    hint: `${nearest}add to the configuration (joust.yaml or POST /v1/admin/configuration): metrics: {${JSON.stringify(shown)}: {type: ${type}, direction: higher}}, with the range and direction of the metric`,
    code: "undeclared_metric",
    param: "metric_name",
  });
}

function invalid(name: string, problem: string): HttpError {
  return new HttpError(400, `the metric ${name} ${problem}`, {
    hint: "send a value as the configuration declares it",
    code: "invalid_value",
    param: "value",
  });
}
