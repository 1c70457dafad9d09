import { createHash, createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { chat, configOf, newFolder, startGateway } from "./gateway.fixture.ts";
import { authOf } from "./providers/auth.ts";
import { knownProvider, missingKey, providerOf } from "./providers/providers.ts";
import { COMPLETION } from "./providers/upstream/misbehaving.fixture.ts";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const MESSAGE = JSON.stringify({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hello!" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 2 },
});

/** An upstream that answers and records requests. `check` may refuse a request with 403. */
async function startRecorder(check: (one: Received) => boolean = () => true) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url: path = "", headers } = request;
    const one = { path, headers, body: Buffer.concat(chunks).toString() };
    received.push(one);
    const isMessage = /messages|Predict/.test(path);
    response.writeHead(check(one) ? 200 : 403, { "content-type": "application/json" });
    response.end(isMessage ? MESSAGE : COMPLETION);
  });
  return { received, url: await listen(server) };
}

const serving = (provider: string, model = "m") => `
providers:
  host: ${provider}
models:
  m: {provider: host, model: ${model}, retries: 0}
`;

/** Checks a signature of AWS by its definition, independently of the code that made it. */
function isSigned({ path, headers, body }: Received, secret: string): boolean {
  const [, day, region, service, signed, signature] =
    /Credential=[^/]+\/(\d+)\/([\w-]+)\/([\w-]+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (!day || !region || !service || !signed) return false;
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");
  const hmac = (key: string | Buffer, text: string) =>
    createHmac("sha256", key).update(text).digest();
  const [route = "", query = ""] = path.split("?");
  const names = signed.split(";");
  const canonical = [
    "POST",
    route,
    query,
    ...names.map((name) => `${name}:${headers[name]}`),
    "",
    signed,
    hash(body),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return createHmac("sha256", key).update(text).digest("hex") === signature;
}

describe("sigv4", () => {
  it("signs the bytes that are sent, and an independent check accepts them", async () => {
    const host = await startRecorder((one) => isSigned(one, "secret-of-aws"));
    const gateway = await startGateway(
      serving(
        `{kind: bedrock, url: "${host.url}/openai/v1", region: eu-west-1, access_key: AKID, secret_key: secret-of-aws}`,
      ),
    );
    const { status } = await gateway.post("/v1/chat/completions", chat("häßlich & 100%"));
    expect(status).toBe(200);
    const [one] = host.received;
    expect(one!.path).toBe("/openai/v1/chat/completions");
    expect(one!.headers.authorization).toContain("/eu-west-1/bedrock/aws4_request");
    expect(isSigned({ ...one!, body: `${one!.body} ` }, "secret-of-aws")).toBe(false);
  });

  it("takes credentials from the environment, and the bearer token before them", () => {
    const env = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
    const signed = knownProvider("bedrock-anthropic", env)!;
    expect(signed).toMatchObject({
      dialects: { messages: "https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages" },
      aws: { accessKey: "a", secretKey: "b", region: "us-east-1", service: "bedrock-mantle" },
    });
    const token = knownProvider("bedrock", { ...env, AWS_BEARER_TOKEN_BEDROCK: "t" })!;
    expect(token).toMatchObject({
      key: "t",
      dialects: {
        chat: "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/chat/completions",
      },
    });
  });
});

describe("azure", () => {
  it("classic: the deployment and the version are in the address", async () => {
    const host = await startRecorder();
    const gateway = await startGateway(
      serving(
        `{kind: azure-classic, url: "${host.url}/openai", api_version: 2024-10-21, key: key-of-azure}`,
        "my-gpt",
      ),
    );
    expect((await gateway.post("/v1/chat/completions", chat("x"))).status).toBe(200);
    await gateway.post("/v1/embeddings", { model: "m", input: "x" });
    expect(host.received.map(({ path }) => path)).toEqual([
      "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
      "/openai/deployments/my-gpt/embeddings?api-version=2024-10-21",
    ]);
    expect(host.received[0]!.headers).toMatchObject({ "api-key": "key-of-azure" });
    expect(host.received[0]!.headers.authorization).toBeUndefined();
  });

  it("v1: the resource is in the address", () => {
    const env = { AZURE_RESOURCE_NAME: "res", AZURE_API_KEY: "k" };
    expect(knownProvider("azure", env)).toMatchObject({
      key: "k",
      auth: "azure",
      dialects: {
        chat: "https://res.openai.azure.com/openai/v1/chat/completions",
        responses: "https://res.openai.azure.com/openai/v1/responses",
      },
    });
  });
});

describe("vertex", () => {
  it("has project and region in its address", () => {
    const entry = configOf(serving("{kind: vertex, project: p, region: europe-west4}"));
    expect(providerOf("host", entry.providers.host, {})).toMatchObject({
      auth: "google-oauth",
      dialects: {
        chat: "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/endpoints/openapi/chat/completions",
      },
    });
    const global = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "global" };
    expect(knownProvider("vertex", global)!.url).toBe(
      "https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi",
    );
  });

  it("sends Anthropic's models their version, and the name in the address", async () => {
    const host = await startRecorder();
    const gateway = await startGateway(
      serving(
        `{kind: vertex-anthropic, url: "${host.url}/models", project: p, region: r, key: token}`,
        "claude-x",
      ),
    );
    const { status, json } = await gateway.post("/v1/chat/completions", chat("x"));
    expect(status).toBe(200);
    expect(json.choices[0].message.content).toBe("Hello!");
    const [one] = host.received;
    expect(one!.path).toBe("/models/claude-x:rawPredict");
    expect(one!.headers.authorization).toBe("Bearer token");
    const body = JSON.parse(one!.body);
    expect(body).toMatchObject({ anthropic_version: "vertex-2023-10-16", max_tokens: 16_384 });
    expect(body).not.toHaveProperty("model");
  });

  it("without google-auth-library the error says what to install", async () => {
    const host = await startRecorder();
    const gateway = await startGateway(
      serving(`{kind: vertex, url: "${host.url}", project: p, region: r, credentials: default}`),
    );
    const { status, json } = await gateway.post("/v1/chat/completions", chat("x"));
    expect(status).toBe(502);
    expect(json.error.message).toContain("install google-auth-library");
  });
});

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

  it("may have the model in the path of an address, where its name is encoded", async () => {
    const host = await startRecorder();
    const gateway = await startGateway(
      serving(`{dialects: {chat: "${host.url}/of/{model}/chat/completions"}}`, "a b/c?d"),
    );
    expect((await gateway.post("/v1/chat/completions", chat("x"))).status).toBe(200);
    expect(host.received.map(({ path }) => path)).toEqual(["/of/a%20b%2Fc%3Fd/chat/completions"]);
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

describe("proxies of the environment", () => {
  /** A proxy for HTTP that forwards requests and tunnels. */
  async function startProxy() {
    const used: string[] = [];
    const server = createServer((request, response) => {
      used.push(request.url!);
      const { method, headers } = request;
      const forward = httpRequest(request.url!, { method: method!, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forward);
    });
    server.on("connect", (request, socket, head) => {
      used.push(request.url!);
      const [host, port] = request.url!.split(":");
      const tunnel = connect(Number(port), host, () => {
        socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        tunnel.write(head);
        tunnel.pipe(socket);
        socket.pipe(tunnel);
      });
      tunnel.on("error", () => socket.destroy());
      socket.on("error", () => tunnel.destroy());
    });
    return { used, url: await listen(server) };
  }

  it("are used unless NO_PROXY names the host", async () => {
    const host = await startRecorder();
    const proxy = await startProxy();
    const yaml = serving(`{url: "${host.url}/v1"}`);
    const through = await startGateway(yaml, { env: { HTTP_PROXY: proxy.url } });
    expect((await through.post("/v1/chat/completions", chat("x"))).status).toBe(200);
    expect(proxy.used).toHaveLength(1);
    const env = { http_proxy: proxy.url, NO_PROXY: "localhost,127.0.0.1" };
    const direct = await startGateway(yaml, { env });
    expect((await direct.post("/v1/chat/completions", chat("x"))).status).toBe(200);
    expect(proxy.used).toHaveLength(1);
    expect(host.received).toHaveLength(2);
  });
});
