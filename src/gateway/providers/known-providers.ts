import type { DialectUrls } from "../wire/dialect-names.ts";
import type { Edits } from "../wire/json.ts";
import type { AuthKind } from "./auth.ts";

/**
 * A provider as data. Addresses are templates: `{url}` is the provider's address, `{region}` and other names
 * are settings of the configuration or the environment, `{model}` is the name of the called model, and
 * `{stream:a|b}` is a for a stream and b otherwise.
 */
export interface KnownProvider {
  readonly name: string;
  /** Address up to and including /v1. */
  readonly url: string;
  readonly dialects: DialectUrls;
  /** Address that counts the tokens of Messages requests. Default: `/count_tokens` below the address of Messages. */
  readonly countTokens?: string;
  readonly auth: AuthKind;
  /** Environment variables that may hold the key. */
  readonly keyVariables: readonly string[];
  /** Environment variable that replaces the address. */
  readonly urlVariable?: string;
  /** Whether the variable with its address, rather than a key, shows that it is in use. */
  readonly isLocal?: true;
  /** Settings that the addresses need, with the environment variables that may hold them. */
  readonly settings?: Readonly<Partial<Record<SettingName, readonly string[]>>>;
  /** Service in a signature of AWS. */
  readonly service?: string;
  /** Whether to request the usage of streams. */
  readonly requestsUsage?: boolean;
  /** Changes to the body of every request. */
  readonly edits?: Edits;
  /** Models to serve if the configuration names none. "listed": all that the provider lists. */
  readonly models: readonly string[] | "listed";
}

export const SETTING_NAMES = ["region", "project", "resource", "api_version"] as const;
export type SettingName = (typeof SETTING_NAMES)[number];

const CHAT = { chat: "{url}/chat/completions" };
const OPENAI = { ...CHAT, responses: "{url}/responses" };
const MESSAGES = { messages: "{url}/messages" };

const AWS = { region: ["AWS_REGION", "AWS_DEFAULT_REGION"] };
const GOOGLE = {
  project: ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"],
  region: ["GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION"],
};
const AZURE = { resource: ["AZURE_RESOURCE_NAME"] };
const AZURE_KEYS = ["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"];
const VERTEX = "https://{vertex-host}/v1/projects/{project}/locations/{region}";

export const KNOWN: readonly KnownProvider[] = [
  {
    name: "openai",
    url: "https://api.openai.com/v1",
    dialects: OPENAI,
    auth: "bearer",
    keyVariables: ["OPENAI_API_KEY"],
    urlVariable: "OPENAI_BASE_URL",
    models: ["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"],
  },
  {
    name: "anthropic",
    url: "https://api.anthropic.com/v1",
    dialects: MESSAGES,
    auth: "x-api-key",
    keyVariables: ["ANTHROPIC_API_KEY"],
    urlVariable: "ANTHROPIC_BASE_URL",
    models: ["claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5"],
  },
  {
    name: "azure",
    url: "https://{resource}.openai.azure.com/openai/v1",
    dialects: OPENAI,
    auth: "azure",
    keyVariables: AZURE_KEYS,
    settings: AZURE,
    models: [],
  },
  {
    name: "azure-classic",
    url: "https://{resource}.openai.azure.com/openai",
    dialects: { chat: "{url}/deployments/{model}/chat/completions?api-version={api_version}" },
    auth: "azure",
    keyVariables: AZURE_KEYS,
    settings: { ...AZURE, api_version: ["OPENAI_API_VERSION", "AZURE_API_VERSION"] },
    models: [],
  },
  {
    name: "bedrock",
    url: "https://bedrock-runtime.{region}.amazonaws.com/openai/v1",
    dialects: CHAT,
    auth: "sigv4",
    service: "bedrock",
    keyVariables: ["AWS_BEARER_TOKEN_BEDROCK"],
    settings: AWS,
    models: [],
  },
  {
    name: "bedrock-anthropic",
    url: "https://bedrock-mantle.{region}.api.aws/anthropic/v1",
    dialects: MESSAGES,
    auth: "sigv4",
    service: "bedrock-mantle",
    keyVariables: ["AWS_BEARER_TOKEN_BEDROCK"],
    settings: AWS,
    models: [],
  },
  {
    name: "vertex",
    url: `${VERTEX}/endpoints/openapi`,
    dialects: CHAT,
    auth: "google-oauth",
    keyVariables: [],
    settings: GOOGLE,
    models: [],
  },
  {
    name: "vertex-anthropic",
    url: `${VERTEX}/publishers/anthropic/models`,
    dialects: { messages: "{url}/{model}:{stream:streamRawPredict|rawPredict}" },
    countTokens: "{url}/count-tokens:rawPredict",
    auth: "google-oauth",
    keyVariables: [],
    settings: GOOGLE,
    edits: { set: { anthropic_version: '"vertex-2023-10-16"' }, drop: ["model"] },
    models: [],
  },
  {
    name: "gemini",
    url: "https://generativelanguage.googleapis.com/v1beta/openai",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    models: ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"],
  },
  {
    name: "mistral",
    url: "https://api.mistral.ai/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["MISTRAL_API_KEY"],
    requestsUsage: false, // sends usage with the last chunk and refuses unknown fields
    models: ["mistral-large-2512", "mistral-small-2603"],
  },
  {
    name: "groq",
    url: "https://api.groq.com/openai/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["GROQ_API_KEY"],
    models: ["openai/gpt-oss-120b", "llama-3.3-70b-versatile", "llama-3.1-8b-instant"],
  },
  {
    name: "openrouter",
    url: "https://openrouter.ai/api/v1",
    dialects: { ...OPENAI, ...MESSAGES },
    auth: "bearer",
    keyVariables: ["OPENROUTER_API_KEY"],
    models: ["anthropic/claude-haiku-4.5", "openai/gpt-5.4-mini", "google/gemini-2.5-flash"],
  },
  {
    name: "cohere",
    url: "https://api.cohere.ai/compatibility/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["COHERE_API_KEY", "CO_API_KEY"],
    models: [],
  },
  {
    name: "deepseek",
    url: "https://api.deepseek.com/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["DEEPSEEK_API_KEY"],
    models: [],
  },
  {
    name: "xai",
    url: "https://api.x.ai/v1",
    dialects: OPENAI,
    auth: "bearer",
    keyVariables: ["XAI_API_KEY"],
    models: [],
  },
  {
    name: "together",
    url: "https://api.together.xyz/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["TOGETHER_API_KEY"],
    models: [],
  },
  {
    name: "fireworks",
    url: "https://api.fireworks.ai/inference/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["FIREWORKS_API_KEY"],
    models: [],
  },
  {
    name: "ollama",
    url: "http://127.0.0.1:11434/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: [],
    urlVariable: "OLLAMA_HOST",
    isLocal: true,
    models: "listed",
  },
  {
    name: "vllm",
    url: "http://127.0.0.1:8000/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["VLLM_API_KEY"],
    urlVariable: "VLLM_BASE_URL",
    isLocal: true,
    models: "listed",
  },
  {
    name: "llamacpp",
    url: "http://127.0.0.1:8080/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["LLAMA_API_KEY"],
    urlVariable: "LLAMACPP_BASE_URL",
    isLocal: true,
    models: "listed",
  },
  {
    name: "lmstudio",
    url: "http://127.0.0.1:1234/v1",
    dialects: CHAT,
    auth: "bearer",
    keyVariables: ["LMSTUDIO_API_KEY"],
    urlVariable: "LMSTUDIO_BASE_URL",
    isLocal: true,
    models: "listed",
  },
];
