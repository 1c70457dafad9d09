import { HttpError } from "../errors/http-error.ts";
import { lackOf, type Needs } from "../providers/capabilities.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { Ask, View } from "./plan.ts";

/** The models that can serve the request, and why the others cannot. */
export function ableOf(
  { models, pool, name }: Pick<View, "models" | "pool" | "name">,
  { needs, allowed }: Pick<Ask, "needs" | "allowed">,
): { able: number[]; excluded: [string, string][] } {
  if (allowed && !pool.models.some((model) => allowed.includes(model))) {
    throw new HttpError(400, `allowed_models names no model of ${name}`, {
      hint: `it has ${pool.models.join(", ")}`,
      code: "no_capable_model",
      param: "joust.allowed_models",
    });
  }
  const able: number[] = [];
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
    else able.push(k);
  }
  // All are resting: to ask one is better than to refuse.
  if (able.length === 0) return { able: checkSome(name, resting, excluded), excluded };
  for (const k of resting) excluded.push([pool.models[k]!, "has failed often and is resting"]);
  return { able, excluded };
}

function checkSome(router: string, able: number[], excluded: readonly [string, string][]) {
  if (able.length > 0) return able;
  const why = excluded.map(([model, lack]) => `${model} ${lack}`).join("; ");
  throw new HttpError(400, `no model of ${router} can serve this request: ${why}`, {
    hint: "ask for less, or add a model that can",
    code: "no_capable_model",
    param: "model",
  });
}

/** US dollars of each model; what has no price is taken to cost what the others do. */
export function expectedCosts(
  models: readonly (ServedModel | undefined)[],
  { promptTokens, answerTokens }: Needs,
): { all: Float64Array; dearest: number } | undefined {
  const all = new Float64Array(models.length);
  let sum = 0;
  let known = 0;
  let dearest = 0;
  for (let k = 0; k < models.length; k++) {
    const cost = models[k]?.expectedCost(promptTokens, answerTokens);
    all[k] = cost ?? Number.NaN;
    if (cost === undefined) continue;
    sum += cost;
    known++;
    if (cost > dearest) dearest = cost;
  }
  if (dearest === 0) return undefined;
  for (let k = 0; k < all.length; k++) if (Number.isNaN(all[k])) all[k] = sum / known;
  return { all, dearest };
}
