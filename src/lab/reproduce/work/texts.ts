import type { Context } from "../../jobs/job.ts";
import { openData } from "./data.ts";
import { openDraw, restrict, streamedTexts } from "./draw.ts";
import { promptsOf } from "./prompts.ts";
import type { TextsSpec } from "./specs.ts";

/** The texts that specs speak of, each once. */
export async function openTexts(specs: readonly TextsSpec[], context: Context): Promise<string[]> {
  const texts = new Set<string>();
  for (const spec of specs) for (const text of await textsOf(spec, context)) texts.add(text);
  return [...texts];
}

async function textsOf(spec: TextsSpec, context: Context): Promise<readonly string[]> {
  if (spec.of === "data") {
    return (await openData(spec.data, context)).queries.map(({ text }) => text);
  }
  const draw = await openDraw(spec.draw, context);
  if (spec.of === "prompts") return promptsOf(restrict(draw.offline, spec.categories), spec.prompt);
  return [...draw.offline.texts, ...streamedTexts(draw, spec.stream)];
}
