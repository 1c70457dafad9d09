import { didYouMean } from "../../core/input/nearest.ts";
import type { Config } from "../config/config.ts";
import { HttpError } from "../wire/http-error.ts";

/** A metric as joust.yaml declares it. */
type Metric = Config["metrics"][string];
export type Metrics = Config["metrics"];

type MetricValue = boolean | number;

/** A value of a metric in the body of a vote. */
export interface SentMetric {
  readonly name: string;
  readonly value: MetricValue;
  /** Members of the body that hold the name and the value. */
  readonly members: { readonly name: string; readonly value: string };
}

/**
 * Converts the value of a declared metric to a rating from -1 (worst) to 1 (best). A number
 * outside the range counts as the end of the range, a rating outside of it is refused.
 */
export function ratingOf(metrics: Metrics, sent: SentMetric): number {
  const { value } = sent;
  const metric = declared(metrics, sent);
  const { type, min = 0, max = 1, direction } = metric;
  const isBoolean = typeof value === "boolean";
  if (isBoolean !== (type === "boolean")) {
    const expected = type === "boolean" ? "true or false" : `a number from ${min} to ${max}`;
    throw invalid(sent, `is ${JSON.stringify(value)}, not ${expected}`);
  }
  const number = Number(value);
  if (type === "rating" && (number < min || number > max)) {
    throw invalid(sent, `is ${number}, not between ${min} and ${max}`);
  }
  const inside = Math.min(max, Math.max(min, number));
  const rating = (2 * (inside - min)) / (max - min) - 1;
  return direction === "lower" ? 0 - rating : rating;
}

function declared(metrics: Metrics, { name, value, members }: SentMetric): Metric {
  const metric = Object.hasOwn(metrics, name) ? metrics[name] : undefined;
  if (metric) return metric;
  const shown = name.slice(0, 64);
  const type = typeof value === "boolean" ? "boolean" : "number, min: 0, max: 1";
  const nearest = didYouMean(shown, Object.keys(metrics));
  throw new HttpError(400, `the metric ${JSON.stringify(shown)} is not declared`, {
    hint: `${nearest}add to the configuration (joust.yaml or POST /v1/admin/configuration): metrics: {${JSON.stringify(shown)}: {type: ${type}, direction: higher}}, with the range and direction of the metric`,
    code: "undeclared_metric",
    param: members.name,
  });
}

function invalid({ name, members }: SentMetric, problem: string): HttpError {
  return new HttpError(400, `the metric ${name} ${problem}`, {
    hint: "send a value as the configuration declares it",
    code: "invalid_value",
    param: members.value,
  });
}
