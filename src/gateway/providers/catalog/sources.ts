/** Names of a known provider in the two sources of the catalog. */
interface SourceNames {
  /** Name in models.dev. */
  readonly models: string;
  /** Name in genai-prices. */
  readonly prices: string;
}

/** Known providers in the catalog. Local upstreams have no list prices. */
export const SOURCES: Readonly<Record<string, SourceNames>> = {
  openai: { models: "openai", prices: "openai" },
  anthropic: { models: "anthropic", prices: "anthropic" },
  azure: { models: "azure", prices: "azure" },
  "azure-classic": { models: "azure", prices: "azure" },
  bedrock: { models: "amazon-bedrock", prices: "aws" },
  "bedrock-anthropic": { models: "amazon-bedrock", prices: "aws" },
  vertex: { models: "google-vertex", prices: "google" },
  "vertex-anthropic": { models: "google-vertex-anthropic", prices: "google" },
  gemini: { models: "google", prices: "google" },
  mistral: { models: "mistral", prices: "mistral" },
  groq: { models: "groq", prices: "groq" },
  openrouter: { models: "openrouter", prices: "openrouter" },
  cohere: { models: "cohere", prices: "cohere" },
  deepseek: { models: "deepseek", prices: "deepseek" },
  xai: { models: "xai", prices: "x-ai" },
  together: { models: "togetherai", prices: "together" },
  fireworks: { models: "fireworks-ai", prices: "fireworks" },
};

/** Providers of models.dev that are searched for a model of an unknown upstream, in this order. */
export const MAKERS = ["openai", "anthropic", "google", "mistral", "deepseek", "xai", "groq"];

/**
 * Names under which a model may be listed: as it is, without a prefix such as `openai/`, without a date, and
 * with dashes for dots as in OpenRouter's anthropic/claude-haiku-4.5. A name with `-latest` refers to changing
 * models, so it is only looked up without the suffix.
 */
export function namesOf(model: string): string[] {
  const bare = model.replace(/^(~?[\w-]+)\//, "").replace(/:\w+$/, "");
  const plain = undated(bare);
  if (MISTRAL_LATEST.test(bare)) return [];
  const all = [model, bare, plain, plain.replace(/(\d)\.(\d)/g, "$1-$2")];
  return [...new Set(all)].filter((name) => name !== "" && !name.endsWith("-latest"));
}

/**
 * Name of a model at its maker, from its name at Bedrock (eu.anthropic.claude-haiku-4-5-20251001-v1:0) or Vertex
 * (claude-haiku-4-5@20251001). There is none for other forms.
 */
export function makersNames(model: string): string[] {
  const bare = model
    .replace(/^((us|eu|apac|au|jp|global)\.)?anthropic\./, "")
    .replace(/(-v\d+(:\d+)?|@\w+)$/, "");
  return bare === model ? [] : [undated(bare)];
}

/** Mistral moves these names to models of other prices. */
const MISTRAL_LATEST = /^(mistral|ministral|magistral|codestral|devstral|pixtral)-.*-?latest$/;

export function undated(model: string): string {
  return model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
}
