import { withGateway } from "../gateway-process.ts";
import { post } from "../http.ts";
import { type Attack, bearer, chat, KEY } from "./attack.ts";
import { type FaultyUpstream, withFaultyUpstream } from "./faulty-upstream.ts";

/** Ways of a client to evade the budget or the list of models of its key. */
export const KEY_LIMIT_ATTACKS: readonly Attack[] = [
  {
    item: "15a",
    attack:
      "20 prompts of 0.60 dollars whose client disconnects before the answer, budget of 1 dollar",
    before: "20 called, nothing counted",
    run: () => withKey("budget: 1", disconnect),
  },
  {
    item: "15b",
    attack:
      "40 requests at a time that fall back to a model of 1 dollar per answer, budget of 1 dollar",
    before: "40 of 40 answered, 40 dollars",
    run: () => withKey("budget: 1", fallBack),
  },
  {
    item: "15c",
    attack: "20 lists of 100 prompts at a time, 1 dollar per list, budget of 1 dollar",
    before: "5 called, 5 dollars",
    run: () => withKey("budget: 1", lists),
  },
  {
    item: "15d",
    attack:
      "a key with a list of one model names others in members that OpenRouter or LiteLLM obeys",
    before: "passed on to the provider",
    run: () => withKey("models: [free]", otherModels),
  },
];

function withKey(
  limit: string,
  work: (gateway: { readonly url: string }) => ReturnType<Attack["run"]>,
) {
  return withFaultyUpstream((upstream) => withGateway(yamlOf(upstream, limit), work));
}

function yamlOf(upstream: FaultyUpstream, limit: string): string {
  const providers = (["hang", "well", "error500"] as const).map(
    (name) => `${name}: {url: "${upstream.url(name)}"}`,
  );
  return `keys: {mallory: {key: ${KEY}, ${limit}}}
providers: {${providers.join(", ")}}
models:
  long: {provider: hang, price: {input: 1000, output: 100}}
  broken: {provider: error500, retries: 0, price: {input: 0, output: 0.01}}
  dear: {provider: well, price: {input: 0, output: 500000}}
  free: {provider: well}
routers: {auto: {models: [broken, dear], explore: 0, cost_quality_tradeoff: 9.9}}`;
}

/** Sends a request and disconnects after a second. Returns the status, or undefined if there was no response until then. */
async function briefly(url: string, path: string, body: object): Promise<number | undefined> {
  const signal = AbortSignal.timeout(1000);
  const request = { method: "POST", headers: bearer(KEY), body: JSON.stringify(body), signal };
  const response = await fetch(`${url}${path}`, request).catch(() => undefined);
  await response?.text();
  return response?.status;
}

const countOf = (statuses: readonly (number | undefined)[], status: number | undefined) =>
  statuses.filter((one) => one === status).length;

async function disconnect({ url }: { readonly url: string }) {
  const body = chat("word ".repeat(500), { model: "long", max_tokens: 1 });
  const statuses = [];
  for (let i = 0; i < 20; i++) statuses.push(await briefly(url, "/v1/chat/completions", body));
  const called = countOf(statuses, undefined);
  return { now: `${called} called, ${countOf(statuses, 429)} refused with 429`, held: called <= 2 };
}

async function fallBack({ url }: { readonly url: string }) {
  const requests = Array.from({ length: 40 }, (_, i) =>
    post(`${url}/v1/chat/completions`, chat(`hi ${i}`, { max_tokens: 2 }), bearer(KEY)),
  );
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  const answered = countOf(statuses, 200);
  return { now: `${answered} of 40 answered, ${answered} dollars`, held: answered <= 2 };
}

async function lists({ url }: { readonly url: string }) {
  const body = { model: "long", prompt: Array(100).fill("a"), max_tokens: 100 };
  const statuses = await Promise.all(
    Array.from({ length: 20 }, () => briefly(url, "/v1/completions", body)),
  );
  const called = countOf(statuses, undefined);
  return { now: `${called} called, ${countOf(statuses, 429)} refused with 429`, held: called <= 2 };
}

async function otherModels({ url }: { readonly url: string }) {
  const members = [
    ...[{ models: ["dear"] }, { preset: "dear" }, { fallbacks: ["dear"] }],
    ...[{ api_base: "https://example.com" }, { tools: [{ type: "advisor", model: "dear" }] }],
  ];
  const requests = members.map((more) =>
    post(`${url}/v1/chat/completions`, chat("hi", { model: "free", ...more }), bearer(KEY)),
  );
  const refused = countOf(
    (await Promise.all(requests)).map(({ status }) => status),
    403,
  );
  return {
    now: `${refused} of ${members.length} refused with 403`,
    held: refused === members.length,
  };
}
