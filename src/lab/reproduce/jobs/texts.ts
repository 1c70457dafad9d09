import type { Context } from "../../jobs/job.ts";
import { openDraw, restrict, streamedTexts } from "./draw.ts";
import { openData } from "./open-data.ts";
import { promptsOf } from "./prompts.ts";
import type { TextsSpec } from "./specs.ts";

/** The texts of a spec, each once. */
export async function textsOf(spec: TextsSpec, context: Context): Promise<string[]> {
  return [...new Set(await allTexts(spec, context))];
}

async function allTexts(spec: TextsSpec, context: Context): Promise<readonly string[]> {
  if (spec.of === "data") {
    return (await openData(spec.data, context)).queries.map(({ text }) => text);
  }
  const draw = await openDraw(spec.draw, context);
  if (spec.of === "prompts") return promptsOf(restrict(draw.offline, spec.categories), spec.prompt);
  return [...draw.offline.texts, ...streamedTexts(draw, spec.stream)];
}
