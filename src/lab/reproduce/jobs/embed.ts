import type { Context, Result } from "../../jobs/job.ts";
import { encodeTexts, openRef } from "./encode-texts.ts";
import type { EmbedSpec } from "./specs.ts";
import { textsOf } from "./texts.ts";

export async function embed({ encoder, texts }: EmbedSpec, context: Context): Promise<Result> {
  return encodeTexts(await openRef(encoder, context), await textsOf(texts, context), context);
}
