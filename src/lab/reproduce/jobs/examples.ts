import type { Context, Result } from "../../jobs/job.ts";
import { openDraw, restrict } from "./draw.ts";
import type { ExamplesSpec, ExamplesValue } from "./specs.ts";
import { textsOf } from "./texts.ts";

/**
 * The input of a fit. It is a job of its own, so that the key of a fit, which takes
 * minutes, contains these texts and not the code that draws them.
 */
export async function examples(spec: ExamplesSpec, context: Context): Promise<Result> {
  const draw = await openDraw(spec.draw, context);
  const { texts, categories } = restrict(draw.offline, spec.categories);
  const value: ExamplesValue = {
    offline: texts,
    categories,
    seed: draw.random.split("fit").integer(2 ** 32),
    texts: await textsOf(spec.texts, context),
  };
  return { value };
}
