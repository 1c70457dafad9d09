import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { PACKAGE_ROOT } from "../../core/input/project.ts";
import { systemClock } from "../clock/clock.ts";
import { CONFIG } from "../config/config.ts";
import { KNOWN } from "./known-providers.ts";
import {
  knownProvider,
  PROVIDER_NAMES,
  type Provider,
  providerOf,
  providersIn,
} from "./providers.ts";
import { startMisbehaving } from "./upstream/misbehaving.fixture.ts";
import { connect } from "./upstreams.ts";

describe("providers in the environment", () => {
  const names = (env: Record<string, string>) => providersIn(env).map(({ name }) => name);

  it("are found by their keys and by the addresses of local upstreams", () => {
    expect(names({})).toEqual([]);
    expect(names({ OPENAI_API_KEY: "" })).toEqual([]);
    expect(names({ MISTRAL_API_KEY: "a", ANTHROPIC_API_KEY: "b" })).toEqual([
      "anthropic",
      "mistral",
    ]);
    expect(names({ GOOGLE_API_KEY: "a" })).toEqual(["gemini"]);
    expect(names({ VLLM_API_KEY: "a", OPENAI_BASE_URL: "http://x" })).toEqual([]);
    expect(names({ OLLAMA_HOST: "localhost", VLLM_BASE_URL: "http://gpu:8000/v1" })).toEqual([
      "ollama",
      "vllm",
    ]);
  });

  it("have their keys and addresses", () => {
    const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://proxy.example/openai/v1/" };
    expect(knownProvider("openai", env)).toMatchObject({
      key: "k",
      url: "https://proxy.example/openai/v1",
    });
    expect(knownProvider("gemini", { GEMINI_API_KEY: "a", GOOGLE_API_KEY: "b" })?.key).toBe("a");
    expect(knownProvider("ollama", {})).toMatchObject({
      key: undefined,
      url: "http://127.0.0.1:11434/v1",
    });
    expect(knownProvider("nobody", {})).toBeUndefined();
    // An administrator must not get a key of the environment sent to an address of their own.
    for (const own of [{ url: "http://x" }, { dialects: { chat: "http://x/chat/completions" } }]) {
      expect(
        knownProvider("openai", env, CONFIG.parse({ providers: { own } }).providers.own),
      ).toMatchObject({
        key: undefined,
      });
    }
    expect(PROVIDER_NAMES).toContain("openrouter");
  });

  it.each([
    ["OLLAMA_HOST", "ollama", "0.0.0.0", "http://127.0.0.1:11434/v1"],
    ["OLLAMA_HOST", "ollama", "0.0.0.0:9000", "http://127.0.0.1:9000/v1"],
    ["OLLAMA_HOST", "ollama", ":9000", "http://127.0.0.1:9000/v1"],
    ["OLLAMA_HOST", "ollama", "gpu", "http://gpu:11434/v1"],
    ["OLLAMA_HOST", "ollama", "[::1]:11434", "http://[::1]:11434/v1"],
    ["OLLAMA_HOST", "ollama", "https://gpu.example", "https://gpu.example/v1"],
    ["OLLAMA_HOST", "ollama", "http://gpu:80/v1", "http://gpu/v1"],
    ["ANTHROPIC_BASE_URL", "anthropic", "https://proxy.example", "https://proxy.example/v1"],
    ["ANTHROPIC_BASE_URL", "anthropic", "https://proxy.example/v1/", "https://proxy.example/v1"],
    ["VLLM_BASE_URL", "vllm", "http://gpu:8000/v1", "http://gpu:8000/v1"],
  ])("%s for %s: %s is %s", (variable, name, address, url) => {
    expect(knownProvider(name, { [variable]: address })?.url).toBe(url);
  });

  it.each(["not an address", "ftp://x", "gpu:8000"])(
    "refuses the address %j with a hint",
    (address) => {
      expect(() => providersIn({ VLLM_BASE_URL: address })).toThrow(
        errorText(
          /the environment: field "VLLM_BASE_URL": .*; hint: write it like http:\/\/127\.0\.0\.1:8000\/v1/,
        ),
      );
    },
  );
});

it("connects with the provider's dialect and key", async () => {
  const seen: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url, ...request.headers });
    request.resume().on("end", () => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const body = Buffer.from('{"messages":[]}');
  const ask = async (provider: Partial<Provider>) => {
    const host = connect(
      {
        name: "x",
        url,
        dialects: { chat: `${url}/chat/completions` },
        auth: "bearer",
        models: [],
        ...provider,
      },
      {},
      systemClock,
    );
    const request = { endpoint: "chat/completions", body, model: "m", stream: false } as const;
    await expect(host.call(request, new AbortController().signal)).rejects.toMatchObject({
      status: 500,
    });
    await host.close();
    return seen.at(-1)!;
  };
  expect(await ask({ key: "k" })).toMatchObject({
    path: "/v1/chat/completions",
    authorization: "Bearer k",
  });
  expect(await ask({ headers: { "x-title": "t" } })).toMatchObject({ "x-title": "t" });
  expect(seen.at(-1)).not.toHaveProperty("authorization");
  expect(
    await ask({ key: "k", auth: "x-api-key", dialects: { messages: `${url}/messages` } }),
  ).toMatchObject({
    path: "/v1/messages",
    "x-api-key": "k",
  });
  server.close();
});

it("lists the models of a local upstream", async () => {
  const host = await startMisbehaving();
  const ollama: Provider = {
    name: "ollama",
    url: host.url("models"),
    dialects: {},
    auth: "bearer",
    models: "listed",
  };
  const upstream = connect(ollama, {}, systemClock);
  expect(await upstream.models!(new AbortController().signal)).toEqual(["a", "b"]);
  await upstream.close();
  await host.close();
});

describe("the setting request_usage", () => {
  const url = "http://127.0.0.1:1/v1";
  const requests = (entry: object) =>
    providerOf("own", configOf({ own: { url, ...entry } }).providers.own, {}).requestsUsage;
  const configOf = (providers: object) => CONFIG.parse({ providers });

  it("is also read under its name in version 0.1", () => {
    expect(requests({})).toBeUndefined();
    expect(requests({ request_usage: false })).toBe(false);
    expect(requests({ asks_usage: false })).toBe(false);
    expect(requests({ asks_usage: false, request_usage: true })).toBe(true);
  });

  it("replaces the setting of a known provider", () => {
    const { mistral } = configOf({ mistral: { asks_usage: true } }).providers;
    expect(providerOf("mistral", undefined, {}).requestsUsage).toBe(false);
    expect(providerOf("mistral", mistral, {}).requestsUsage).toBe(true);
  });
});

it("docs/providers.md lists every known provider with its dialects, authentication and variables", () => {
  const page = readFileSync(join(PACKAGE_ROOT, "docs/providers.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
    ([, name, dialects, auth, settings]) => ({ name, dialects, auth, settings: settings! }),
  );
  expect(rows.map(({ name }) => name)).toEqual(KNOWN.map(({ name }) => name));
  KNOWN.forEach((provider, i) => {
    const { dialects, auth, settings } = rows[i]!;
    expect(dialects).toBe(Object.keys(provider.dialects).join(", "));
    const needsNoKey = provider.auth === "bearer" && provider.keyVariables.length === 0;
    expect(auth).toBe(needsNoKey ? "\u2013" : provider.auth);
    if (settings.startsWith("the same")) return;
    const { urlVariable, keyVariables, settings: needed = {} } = provider;
    for (const variable of [keyVariables[0], urlVariable]) {
      if (variable !== undefined) expect(settings).toContain(`\`${variable}\``);
    }
    for (const [setting, [variable]] of Object.entries(needed)) {
      expect(settings).toContain(`\`${setting}\` (\`${variable}\`)`);
    }
  });
});
