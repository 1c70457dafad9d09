import type { Capabilities } from "./capabilities.ts";
import type { Price } from "./upstream/usage.ts";

type Row = readonly [
  input: number,
  cachedInput: number,
  output: number,
  context: number,
  cannot?: string,
];

/**
 * List prices in US dollars per million tokens, and capabilities, as published in July 2026.
 * Providers change them; the configuration overrides this table. Special prices of long prompts,
 * batches and regions are not included.
 */
const TABLE: Readonly<Record<string, Row>> = {
  // OpenAI
  "gpt-5.5": [5, 0.5, 30, 1_050_000],
  "gpt-5.4": [2.5, 0.25, 15, 1_050_000],
  "gpt-5.4-mini": [0.75, 0.075, 4.5, 400_000],
  "gpt-5.4-nano": [0.2, 0.02, 1.25, 400_000],
  "gpt-5.2": [1.75, 0.175, 14, 400_000],
  "gpt-5.1": [1.25, 0.125, 10, 400_000],
  "gpt-5": [1.25, 0.125, 10, 400_000],
  "gpt-5-mini": [0.25, 0.025, 2, 400_000],
  "gpt-5-nano": [0.05, 0.005, 0.4, 400_000],
  "gpt-4.1": [2, 0.5, 8, 1_047_576],
  "gpt-4.1-mini": [0.4, 0.1, 1.6, 1_047_576],
  "gpt-4.1-nano": [0.1, 0.025, 0.4, 1_047_576],
  "gpt-4o": [2.5, 1.25, 10, 128_000],
  "gpt-4o-mini": [0.15, 0.075, 0.6, 128_000],
  o3: [2, 0.5, 8, 200_000],
  "o4-mini": [1.1, 0.275, 4.4, 200_000],
  "o3-mini": [1.1, 0.55, 4.4, 200_000, "vision"],
  "gpt-3.5-turbo": [0.5, 0.5, 1.5, 16_385, "vision json_schema"],
  "text-embedding-3-small": [0.02, 0.02, 0, 8191, "vision tools json_schema"],
  "text-embedding-3-large": [0.13, 0.13, 0, 8191, "vision tools json_schema"],
  // Anthropic
  "claude-opus-4-8": [5, 0.5, 25, 1_000_000],
  "claude-opus-4-7": [5, 0.5, 25, 1_000_000],
  "claude-opus-4-6": [5, 0.5, 25, 1_000_000],
  "claude-opus-4-5": [5, 0.5, 25, 200_000],
  "claude-opus-4-1": [15, 1.5, 75, 200_000],
  "claude-sonnet-5": [3, 0.3, 15, 1_000_000],
  "claude-sonnet-4-6": [3, 0.3, 15, 1_000_000],
  "claude-sonnet-4-5": [3, 0.3, 15, 200_000],
  "claude-haiku-4-5": [1, 0.1, 5, 200_000],
  "claude-3-5-haiku": [0.8, 0.08, 4, 200_000],
  // Google
  "gemini-3.5-flash": [1.5, 0.15, 9, 1_048_576],
  "gemini-3.1-pro-preview": [2, 0.2, 12, 1_048_576],
  "gemini-3-flash-preview": [0.5, 0.05, 3, 1_048_576],
  "gemini-2.5-pro": [1.25, 0.125, 10, 1_048_576],
  "gemini-2.5-flash": [0.3, 0.03, 2.5, 1_048_576],
  "gemini-2.5-flash-lite": [0.1, 0.01, 0.4, 1_048_576],
  // Mistral. Names with -latest refer to changing models, so they have no price here.
  "mistral-medium-2604": [1.5, 1.5, 7.5, 262_144],
  "mistral-large-2512": [0.5, 0.5, 1.5, 262_144],
  "mistral-small-2603": [0.15, 0.15, 0.6, 262_144],
  "codestral-2508": [0.3, 0.3, 0.9, 256_000, "vision"],
  // Groq
  "openai/gpt-oss-120b": [0.15, 0.075, 0.6, 131_072, "vision"],
  "openai/gpt-oss-20b": [0.075, 0.0375, 0.3, 131_072, "vision"],
  "llama-3.3-70b-versatile": [0.59, 0.59, 0.79, 131_072, "vision json_schema"],
  "llama-3.1-8b-instant": [0.05, 0.05, 0.08, 131_072, "vision json_schema"],
};

/** List price of a model, or undefined if the table does not have it. */
export function priceOf(model: string): Price | undefined {
  const row = rowOf(model);
  if (!row) return undefined;
  const [input, cached_input, output] = row;
  // Anthropic charges 1.25 times the input price for writing to the cache; others do not charge.
  const isAnthropic = /(^|\/)claude-/.test(model);
  return { input, cached_input, output, ...(isAnthropic ? { cache_write: 1.25 * input } : {}) };
}

/** Capabilities of a model, or none if the table does not have it. */
export function capabilitiesOf(model: string): Capabilities {
  const row = rowOf(model);
  if (!row) return {};
  const [, , , context, cannot = ""] = row;
  return {
    context,
    vision: !cannot.includes("vision"),
    tools: !cannot.includes("tools"),
    json_schema: !cannot.includes("json_schema"),
  };
}

/** Row of a model, also with a prefix, a date, or dots as in OpenRouter's anthropic/claude-haiku-4.5. */
function rowOf(model: string): Row | undefined {
  const bare = model.replace(/^(~?[\w-]+)\//, "").replace(/:\w+$/, "");
  const undated = bare.replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  for (const name of [model, bare, undated, undated.replace(/(\d)\.(\d)/g, "$1-$2")]) {
    if (Object.hasOwn(TABLE, name)) return TABLE[name];
  }
  return undefined;
}
