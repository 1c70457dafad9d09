import type { Voted } from "../../store/events.ts";
import type { ModelSpec } from "../providers/served-model.ts";

type Model = Pick<ModelSpec, "upstreamName">;

/** Facts about two answers, in the order shown, that may bias a judge: their lengths, and whether one is of its own family. */
export function traitsOfAnswers(
  judge: Model,
  models: readonly [Model, Model],
  texts: readonly [string, string],
): NonNullable<Voted["traits"]> {
  const [first, second] = models.map((model) => Number(familyOf(model) === familyOf(judge)));
  return {
    length: Math.log((texts[0].length + 1) / (texts[1].length + 1)),
    own: first! - second!,
  };
}

/**
 * The family of a model: its maker if the name shows it, otherwise the letters with which the name
 * begins. A prefix such as `openai/` is ignored.
 */
export function familyOf({ upstreamName }: Model): string {
  const name = upstreamName.toLowerCase().split("/").at(-1)!;
  const found = Object.entries(MAKERS).find(([, pattern]) => pattern.test(name));
  return found?.[0] ?? /^[a-z]*/.exec(name)![0];
}

const MAKERS: Readonly<Record<string, RegExp>> = {
  openai: /gpt|^o\d|davinci/,
  anthropic: /claude/,
  google: /gemini|gemma|palm/,
  meta: /llama/,
  mistral: /mistral|mixtral|ministral|magistral|codestral|devstral/,
  alibaba: /qwen|qwq/,
  cohere: /^command|^c4ai/,
};
