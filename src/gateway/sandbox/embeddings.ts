import type { Encoder } from "../../core/encoder/common/encoder.ts";
import type { Json } from "../wire/json-value.ts";
import { parse, refused } from "./request.ts";

/** Answers /v1/embeddings with the vectors of the router's encoder. */
export async function embeddings(
  body: Uint8Array,
  model: string,
  encoder: Encoder,
): Promise<{ answer: Json; tokens: number }> {
  const { input, encoding_format: format } = parse(body);
  const texts = typeof input === "string" ? [input] : input;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === "string")) {
    throw refused(400, "input has to be a text or a list of texts", "input");
  }
  const vectors = await encoder.encode(texts);
  const data = vectors.map((vector, index) => {
    const floats = Float32Array.from(vector);
    const embedding =
      format === "base64" ? Buffer.from(floats.buffer).toString("base64") : [...floats];
    return { object: "embedding", index, embedding };
  });
  const tokens = Math.ceil(texts.join("").length / 4);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return { answer: { object: "list", model, data, usage }, tokens };
}
