import { mergeRules, type ParameterRules, type ReasoningControls } from "./rules.ts";

/** Facts about a model that decide which rules are known for it. */
export interface RuleFacts {
  /** Name of the known provider, or undefined for another upstream. */
  readonly provider?: string | undefined;
  /** Name of the model at the provider. */
  readonly model: string;
  /** Longest answer in tokens. */
  readonly maxAnswer?: number | undefined;
  /** False if the model refuses a temperature. */
  readonly temperature?: boolean | undefined;
  /** Ways to control reasoning; false if the model does not reason. */
  readonly reasoning?: ReasoningControls | false | undefined;
  /** Whether the model accepts a JSON schema of its answer. */
  readonly jsonSchema?: boolean | undefined;
}

/** Rules that are known before the first refusal, so that the first request needs no second attempt. */
export function knownRules(facts: RuleFacts): ParameterRules {
  const { provider, model, maxAnswer, temperature, reasoning, jsonSchema } = facts;
  const all: ParameterRules[] = [{ maxAnswer }];
  const hosted = provider === undefined ? undefined : PROVIDERS[provider];
  if (hosted) all.push(hosted);
  const isOpenAi = provider === undefined || provider === "openai" || provider === "azure";
  if (isOpenAi && REASONING.test(model))
    all.push({ rename: { max_tokens: "max_completion_tokens" } });
  if (temperature === false || (isOpenAi && FIXED_SAMPLING.test(model))) all.push(FIXED);
  // Claude models since 4.7 refuse all of sampling.
  if (temperature === false && model.includes("claude")) all.push({ drop: ["top_k"] });
  if (/(^|\/)(gemini-[12])/.test(model)) all.push({ noSchemaWithTools: true });
  if (/(^|\/)gemini-([3-9]|\d\d)/.test(model)) all.push({ signsCalls: true });
  if (EITHER.test(model)) all.push({ either: [["temperature", "top_p"]] });
  // Only OpenAI's efforts are the complete list; other providers also have ways to turn reasoning off.
  if (reasoning) {
    const efforts = isOpenAi ? reasoning.efforts : [...reasoning.efforts, "none"];
    all.push({ reasoning: { ...reasoning, efforts } });
  } else all.push({ reasoning });
  all.push({ schemas: jsonSchema ?? (provider === "anthropic" && SCHEMAS.test(model)) });
  return mergeRules(all);
}

/** OpenAI's reasoning models, which refuse max_tokens. */
const REASONING = /^(gpt-5(?!-chat)|o[134])\b/;
/** Reasoning models that accept no temperature at all. Later models accept one if reasoning is off. */
const FIXED_SAMPLING = /^(gpt-5(-mini|-nano|-pro|-codex)?|o[134](-mini|-pro)?)(-\d{4}.*)?$/;
const FIXED: ParameterRules = {
  only: { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 },
};
/** Claude models since 4.1 accept a temperature or top_p. */
const EITHER = /claude-(opus-4-[1-6]|sonnet-4-[5-9]|haiku-4)/;
/** Claude models that accept a schema, although models.dev does not say so. */
const SCHEMAS = /^claude-(opus-4-[1-9]|(sonnet|haiku)-4-[5-9]|[a-z]+-[5-9])(?!\d)/;

/** Members of OpenAI's API that other upstreams do not know. */
const OPENAI_ONLY = ["store", "prompt_cache_key", "safety_identifier", "verbosity", "service_tier"];
const OLD_LIMIT = { max_completion_tokens: "max_tokens" };

const PROVIDERS: Readonly<Record<string, ParameterRules>> = {
  mistral: {
    rename: { ...OLD_LIMIT, seed: "random_seed" },
    drop: [...OPENAI_ONLY, "user", "logit_bias", "stream_options"],
    noDeveloper: true,
    dropFromMessages: ["reasoning_content", "refusal"],
  },
  groq: {
    drop: [...OPENAI_ONLY.filter((name) => name !== "service_tier"), "metadata", "logit_bias"],
    noDeveloper: true,
    dropFromMessages: ["reasoning_content"],
  },
  gemini: { drop: [...OPENAI_ONLY, "metadata", "user", "logit_bias"], noDeveloper: true },
  vertex: { drop: [...OPENAI_ONLY, "metadata", "user", "logit_bias"], noDeveloper: true },
  deepseek: { rename: OLD_LIMIT, noDeveloper: true },
  cohere: { rename: OLD_LIMIT, drop: [...OPENAI_ONLY, "metadata"], noDeveloper: true },
  together: { rename: OLD_LIMIT, noDeveloper: true },
  fireworks: { rename: OLD_LIMIT, noDeveloper: true },
  xai: { drop: ["store", "prompt_cache_key", "verbosity", "logit_bias"], noDeveloper: true },
  ollama: { rename: OLD_LIMIT, noDeveloper: true },
  llamacpp: { rename: OLD_LIMIT, noDeveloper: true },
  lmstudio: { rename: OLD_LIMIT, noDeveloper: true },
  vllm: { noDeveloper: true },
};
