import type { ProviderTest } from "../../api/providers.ts";
import { Random } from "../../core/random/random.ts";
import { CONFIG, type Config } from "../config/config.ts";
import { hasCredentials } from "../providers/auth.ts";
import type { Catalog } from "../providers/catalog/catalog.ts";
import { type ProbeResult, probeAll } from "../providers/probe.ts";
import { type Provider, providerOf } from "../providers/providers.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import { proxiesIn } from "../providers/upstream/proxy.ts";
import { connect } from "../providers/upstreams.ts";
import { Builder, type BuilderOptions } from "../routing/builder.ts";
import { PolicyKinds } from "../routing/policy-kinds.ts";
import { rememberSecrets } from "../wire/secrets.ts";
import { checked } from "./document.ts";
import type { JsonObject } from "./secrets.ts";

export type TrialOptions = Pick<
  BuilderOptions,
  "env" | "data" | "encoders" | "catalog" | "folder" | "clock"
>;

/** Known providers whose keys look like this one. */
export function recognised(key: string): string[] {
  return SHAPES.filter(([, shape]) => shape.test(key)).map(([name]) => name);
}

const SHAPES: readonly (readonly [provider: string, shape: RegExp])[] = [
  ["anthropic", /^sk-ant-/],
  ["openrouter", /^sk-or-/],
  ["deepseek", /^sk-[0-9a-f]{32}$/],
  ["openai", /^sk-(?!ant-|or-|[0-9a-f]{32}$)/],
  ["groq", /^gsk_/],
  ["xai", /^xai-/],
  ["gemini", /^AIza/],
  ["fireworks", /^fw_/],
  ["together", /^tgp_/],
];

/**
 * Calls models of a provider that is not part of the configuration yet, each with a short request. Without names,
 * the provider's default models are called or, if it has none, some that the upstream lists.
 */
export async function tryProvider(
  options: TrialOptions,
  catalog: Catalog,
  name: string,
  entry: JsonObject,
  models?: readonly string[],
): Promise<ProviderTest> {
  const config = checked({ providers: { [name]: entry } });
  rememberSecrets([config.providers[name]!.key, config.providers[name]!.secret_key]);
  const called = providerOf(name, config.providers[name], options.env);
  const { auth, headers = {}, ...credentials } = called;
  const isKeySent =
    hasCredentials(auth, credentials) || Object.keys(headers).some((header) => KEYS.test(header));
  let chosen: readonly string[];
  try {
    chosen = models ?? (await defaultModels(options, catalog, name, config));
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return reportOf(called, isKeySent, [{ model: "", deployment: name, ms: 0, ...faultOf(error) }]);
  }
  const entries = chosen.map((model, i) => [`m${i}`, { provider: name, model }] as const);
  const tried = {
    ...config,
    ...CONFIG.pick({ models: true }).parse({ models: Object.fromEntries(entries) }),
  };
  const builder = new Builder({
    ...options,
    retries: 0,
    kinds: new PolicyKinds(),
    random: Random.seeded(1),
    onRetry: () => {},
  });
  try {
    const results = await probeAll(await builder.models(tried), options.clock);
    return reportOf(
      called,
      isKeySent,
      results.map((result) => ({ ...result, model: chosen[Number(result.model.slice(1))]! })),
    );
  } finally {
    await builder.close();
  }
}

/** Names of headers that may carry a key. */
const KEYS = /auth|key|token|secret/i;

/** The default models of a provider, or at most three of those that it lists, spread over their prices. */
async function defaultModels(
  { env, clock }: TrialOptions,
  catalog: Catalog,
  name: string,
  { providers }: Config,
): Promise<readonly string[]> {
  const provider = providerOf(name, providers[name], env);
  if (provider.models !== "listed" && provider.models.length > 0) return provider.models;
  const upstream = connect(provider, {}, clock, proxiesIn(env));
  try {
    const listed = (await upstream.models?.(AbortSignal.timeout(LIST_MS))) ?? [];
    const chats = listed.filter((model) => !NO_CHAT.test(model));
    const priceOf = (model: string) => catalog.price(provider.kind, model)?.output;
    const priced = chats
      .filter((model) => priceOf(model) !== undefined)
      .toSorted((a, b) => priceOf(b)! - priceOf(a)!);
    if (priced.length <= 3) return (priced.length > 0 ? priced : chats).slice(0, 3);
    return [priced[0]!, priced[Math.floor(priced.length / 2)]!, priced.at(-1)!];
  } finally {
    await upstream.close();
  }
}

const LIST_MS = 10_000;
/** Names of models that do not answer chats. */
const NO_CHAT = /embed|rerank|whisper|tts|bge-|e5-|minilm|image|audio|moderation|guard/i;

type Fault = Pick<ProbeResult, "error" | "code" | "status">;

function faultOf({ message, code, status }: UpstreamError): Fault {
  return { error: message, code, ...(status && { status }) };
}

/** Says which part failed: the address, the key, or single models. */
function reportOf(
  { name: provider, url }: Pick<Provider, "name" | "url">,
  isKeySent: boolean,
  results: readonly ProbeResult[],
): ProviderTest {
  const steps: ProviderTest["steps"][number][] = [];
  const ok = results.some(({ error }) => error === undefined);
  const lost = results.find(({ code = "" }) => code === "unreachable" || code === "timeout");
  const refused = results.find(({ status }) => status === 401 || status === 403);
  if (!ok && lost) {
    steps.push(step("address", false, `${plain(lost.error)}; check the address and the network`));
  } else {
    steps.push(step("address", true, "the provider responds"));
    if (!ok && refused) {
      const where = URL.canParse(url) ? ` at ${new URL(url).host}` : "";
      const status = `status ${refused.status}`;
      const hint = `check that it is complete and valid${where}`;
      const detail = isKeySent
        ? `the provider refused the key (${status}); ${hint}`
        : `the provider needs a key, and none was sent (${status})`;
      steps.push(step("key", false, detail));
    } else if (ok) {
      const detail = isKeySent
        ? "the provider accepts the key"
        : "no key was sent, and the provider answers without one";
      steps.push(step("key", true, detail));
    }
    for (const { model, ms, error, status } of refused && !ok ? [] : results) {
      if (model === "") continue;
      const hint = status === 404 ? "; the account may have no access to this model" : "";
      const detail = error === undefined ? "answered" : `${plain(error)}${hint}`;
      steps.push({ ...step("model", error === undefined, detail), model, ms });
    }
    if (results.length === 0) steps.push(step("model", false, "the provider lists no model"));
    const [first] = results;
    if (!ok && !refused && first?.model === "")
      steps.push(step("model", false, plain(first.error)));
  }
  return { object: "provider_test", provider, ok, steps };
}

/** The text of an error without its hint. */
function plain(error = ""): string {
  return error.replace(/; hint: .*$/s, "");
}

function step(what: "address" | "key" | "model", ok: boolean, detail: string) {
  return { what, ok, detail };
}
