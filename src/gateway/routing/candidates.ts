import { HttpError } from "../errors/http-error.ts";
import { lackOf, type Needs } from "../providers/capabilities.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { RouterView } from "./router-view.ts";

/** Models of the pool that can serve a request, by index, and the reasons against the others. */
export interface Candidates {
  readonly indices: readonly number[];
  readonly excluded: readonly (readonly [model: string, reason: string])[];
}

export function candidatesOf(
  { models, pool, name }: Pick<RouterView, "models" | "pool" | "name">,
  needs: Needs,
  allowed: readonly string[] | undefined,
): Candidates {
  if (allowed && !pool.models.some((model) => allowed.includes(model))) {
    throw new HttpError(400, `allowed_models names no model of ${name}`, {
      hint: `it has ${pool.models.join(", ")}`,
      code: "no_capable_model",
      param: "joust.allowed_models",
    });
  }
  const indices: number[] = [];
  const resting: number[] = [];
  const excluded: [string, string][] = [];
  for (const [k, model] of models.entries()) {
    const lack = !model
      ? "is not configured here"
      : allowed && !allowed.includes(model.name)
        ? "is not among allowed_models"
        : lackOf(model.spec.capabilities, needs);
    if (lack !== undefined) excluded.push([pool.models[k]!, lack]);
    else if (model!.isResting) resting.push(k);
    else indices.push(k);
  }
  if (indices.length === 0) {
    if (resting.length === 0) throw noCandidate(name, excluded);
    // Every capable model has failed often. Trying one is better than an error.
    return { indices: resting, excluded };
  }
  for (const k of resting) excluded.push([pool.models[k]!, "has failed often and is resting"]);
  return { indices, excluded };
}

function noCandidate(router: string, excluded: Candidates["excluded"]): HttpError {
  const reasons = excluded.map(([model, reason]) => `${model} ${reason}`).join("; ");
  return new HttpError(400, `no model of ${router} can serve this request: ${reasons}`, {
    hint: "change the request, or add a model that can serve it",
    code: "no_capable_model",
    param: "model",
  });
}

/** Expected costs of the pool's answers in US dollars, and the highest of them. */
export interface ExpectedCosts {
  readonly all: Float64Array;
  readonly highest: number;
}

/**
 * A model without a price is given the mean cost of the others. Undefined if no model has a
 * price above 0.
 */
export function expectedCosts(
  models: readonly (ServedModel | undefined)[],
  { promptTokens, answerTokens }: Needs,
): ExpectedCosts | undefined {
  const all = new Float64Array(models.length);
  let sum = 0;
  let known = 0;
  let highest = 0;
  for (let k = 0; k < models.length; k++) {
    const cost = models[k]?.expectedCost(promptTokens, answerTokens);
    all[k] = cost ?? Number.NaN;
    if (cost === undefined) continue;
    sum += cost;
    known++;
    if (cost > highest) highest = cost;
  }
  if (highest === 0) return undefined;
  for (let k = 0; k < all.length; k++) if (Number.isNaN(all[k])) all[k] = sum / known;
  return { all, highest };
}
