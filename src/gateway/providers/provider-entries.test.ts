import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { configOf, newFolder } from "../gateway.fixture.ts";
import { authOf } from "./auth.ts";
import { knownProvider, missingKey, providerOf } from "./providers.ts";

describe("entries", () => {
  it("of a known name keep its address, dialects and key of the environment", () => {
    const { providers } = configOf("providers: {openai: {headers: {x-team: a}}}");
    expect(providerOf("openai", providers.openai, { OPENAI_API_KEY: "k" })).toMatchObject({
      key: "k",
      url: "https://api.openai.com/v1",
      headers: { "x-team": "a" },
      dialects: { responses: "https://api.openai.com/v1/responses" },
    });
  });

  it("never send a key of the environment to another address", () => {
    const { providers } = configOf(
      "providers: {openai: {url: 'http://house/v1'}, other: {kind: openai, url: 'http://house/v1'}}",
    );
    for (const name of ["openai", "other"]) {
      expect(providerOf(name, providers[name], { OPENAI_API_KEY: "k" }).key).toBeUndefined();
    }
  });

  it.each([
    ["dialects", "dialects: {chat: 'http://house/v1/chat/completions'}"],
    ["an address", "url: 'http://house/v1'"],
  ])("with %s get no credentials of AWS or Google from the environment", (_, address) => {
    const env = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_SESSION_TOKEN: "c" };
    const authOfEntry = (entry: string) => {
      const { providers } = configOf(`providers: {own: {${address}, ${entry}}}`);
      const provider = providerOf("own", providers.own, env);
      return { auth: authOf(provider.auth, provider), entry: providers.own };
    };
    const aws = "kind: bedrock, region: r";
    const google = "kind: vertex, project: p, region: r";
    for (const entry of [aws, google, "auth: google-oauth", "auth: sigv4, service: s, region: r"]) {
      const own = authOfEntry(entry);
      expect([entry, own.auth]).toEqual([entry, { headers: {} }]);
      const field = entry.includes("google") || entry === google ? "credentials" : "access_key";
      expect(() => missingKey("own", own.entry, env)).toThrow(
        errorText(new RegExp(`providers\\.own\\.${field}.*never sent to an address of yours`)),
      );
      expect(missingKey("own", own.entry, env, "key-of-a-deployment")).toBeUndefined();
    }
    const explicit = [
      `${aws}, access_key: x, secret_key: y`,
      `${google}, credentials: default`,
      `${google}, credentials: account.json`,
    ];
    for (const entry of explicit) {
      const own = authOfEntry(entry);
      expect(own.auth.sign).toBeTypeOf("function");
      expect(missingKey("own", own.entry, env)).toBeUndefined();
    }
  });

  it("get credentials of AWS and Google only for a kind that has this authentication", () => {
    const env = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
    for (const auth of ["google-oauth", "sigv4, service: bedrock, region: r"]) {
      const { providers } = configOf(`providers: {own: {kind: groq, auth: ${auth}}}`);
      const provider = providerOf("own", providers.own, env);
      expect(authOf(provider.auth, provider)).toEqual({ headers: {} });
    }
    const settings = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "r", AWS_REGION: "r" };
    for (const name of ["vertex", "bedrock"]) {
      const provider = knownProvider(name, { ...env, ...settings })!;
      expect(authOf(provider.auth, provider).sign).toBeTypeOf("function");
    }
  });

  it("may consist of dialects alone", () => {
    const { providers } = configOf(
      "providers: {house: {auth: x-api-key, dialects: {messages: 'http://house/api/v1/messages'}}}",
    );
    expect(providerOf("house", providers.house, {})).toMatchObject({
      url: "http://house/api/v1",
      auth: "x-api-key",
      dialects: { messages: "http://house/api/v1/messages" },
    });
  });

  it.each([
    ["providers: {house: {key: x}}", /providers\.house\.url.*is missing/],
    ["providers: {house: {kind: nobody}}", /providers\.house\.kind.*not known/],
    ["providers: {a: {kind: azure, resource: 'a/b'}}", /providers\.a\.resource/],
    ["providers: {a: {kind: azure, resource: evil.example}}", /a\.resource.*letters, digits and -/],
    ["providers: {a: {kind: bedrock, region: evil.s3}}", /a\.region.*letters, digits and -/],
    ["providers: {a: {kind: vertex, project: a.b}}", /a\.project.*letters, digits and -/],
    ["providers: {a: {url: 'http://{model}:9/v1'}}", /providers\.a\.url.*placeholder in its host/],
    ["providers: {a: {url: 'http://{model}@house/v1'}}", /providers\.a\.url.*placeholder/],
    [
      "providers: {a: {kind: bedrock, url: 'http://{region}/v1'}}",
      /providers\.a\.url.*placeholder/,
    ],
    ["providers: {a: {dialects: {chat: 'http://{model}:9/v1'}}}", /a\.dialects\.chat.*placeholder/],
    ["providers: {a: {url: 'http://house/v1', headers: {Host: b}}}", /a\.headers\.Host.*gateway/],
    [
      "providers: {a: {url: 'http://house/v1', headers: {connection: b}}}",
      /a\.headers\.connection.*gateway/,
    ],
    [
      "providers: {a: {url: 'http://house/v1', headers: {content-length: b}}}",
      /a\.headers\.content-length.*gateway/,
    ],
    [
      "providers: {a: {url: 'http://house/v1', headers: {transfer-encoding: b}}}",
      /a\.headers\.transfer-encoding.*gateway/,
    ],
    [
      "providers: {a: {url: 'http://house/v1', headers: {expect: b}}}",
      /a\.headers\.expect.*gateway/,
    ],
    [
      "providers: {a: {url: 'http://house/v1', headers: {upgrade: b}}}",
      /a\.headers\.upgrade.*gateway/,
    ],
    [
      'providers: {a: {url: "http://house/v1", headers: {x-a: "b\\nc: d"}}}',
      /a\.headers\.x-a.*line break/,
    ],
    [
      "providers: {a: {url: 'http://house/v1', headers: {x-a: 日本}}}",
      /a\.headers\.x-a.*cannot have/,
    ],
    [
      "providers: {a: {url: 'http://house/v1', headers: {'x a': b}}}",
      /a\.headers\.x a.*not the name/,
    ],
  ])("%s is refused", (yaml, error) => {
    expect(() => configOf(yaml)).toThrow(errorText(error));
  });

  it("say which setting or key is missing", () => {
    expect(() => knownProvider("vertex", { GOOGLE_CLOUD_LOCATION: "r" })).toThrow(
      errorText(/providers\.vertex\.project.*export GOOGLE_CLOUD_PROJECT/),
    );
    const { providers } = configOf("providers: {east: {kind: azure}}");
    expect(() => providerOf("east", providers.east, {})).toThrow(
      errorText(/providers\.east\.resource.*export AZURE_RESOURCE_NAME/),
    );
    expect(missingKey("bedrock", undefined, { AWS_REGION: "r" })).toBe("AWS_ACCESS_KEY_ID");
    expect(missingKey("xai", undefined, {})).toBe("XAI_API_KEY");
    expect(missingKey("ollama", undefined, {})).toBeUndefined();
  });
});

describe("secrets", () => {
  it("come from files", async () => {
    const folder = newFolder();
    const file = join(folder, "key");
    writeFileSync(file, "key-in-a-file\n");
    expect(knownProvider("openai", { OPENAI_API_KEY_FILE: file })!.key).toBe("key-in-a-file");
    const { providers } = configOf(
      `providers: {house: {url: "http://h/v1", key: "\${file:${file}}"}}`,
    );
    expect(providers.house!.key).toBe("key-in-a-file");
  });

  it("in a file that does not exist are an error with its name", () => {
    expect(() => knownProvider("openai", { OPENAI_API_KEY_FILE: "/nowhere" })).toThrow(
      errorText(/OPENAI_API_KEY_FILE.*cannot be read/),
    );
    expect(() => configOf(`store: {key: '${"$"}{file:/nowhere}'}`)).toThrow(
      errorText(/store\.key.*needs the file \/nowhere/),
    );
  });
});
