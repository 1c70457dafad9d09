import { createHash, createHmac } from "node:crypto";
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { chat, configOf, startGateway } from "./gateway.fixture.ts";
import { knownProvider, providerOf } from "./providers/providers.ts";
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
  upstream: ${provider}
models:
  m: {provider: upstream, model: ${model}, retries: 0}
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
    expect(providerOf("upstream", entry.providers.upstream, {})).toMatchObject({
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

  it.each(["us", "eu"])("has a host of its own for the multi-region %s", (region) => {
    const env = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: region };
    expect(knownProvider("vertex-anthropic", env)!.url).toBe(
      `https://aiplatform.${region}.rep.googleapis.com/v1/projects/p/locations/${region}/publishers/anthropic/models`,
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

  it("counts the tokens of Anthropic's models at one address, with the model in the body", async () => {
    const host = await startRecorder();
    const entry = `{kind: vertex-anthropic, url: "${host.url}/models", project: p, region: r, key: token}`;
    const gateway = await startGateway(serving(entry, "claude-x"));
    await gateway.post("/v1/messages/count_tokens", {
      model: "m",
      messages: [{ role: "user", content: "x" }],
    });
    const [one] = host.received;
    expect(one!.path).toBe("/models/count-tokens:rawPredict");
    expect(JSON.parse(one!.body)).toMatchObject({
      model: "claude-x",
      anthropic_version: "vertex-2023-10-16",
    });
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

it("the model may be in the path of an address, where its name is encoded", async () => {
  const host = await startRecorder();
  const gateway = await startGateway(
    serving(`{dialects: {chat: "${host.url}/of/{model}/chat/completions"}}`, "a b/c?d"),
  );
  expect((await gateway.post("/v1/chat/completions", chat("x"))).status).toBe(200);
  expect(host.received.map(({ path }) => path)).toEqual(["/of/a%20b%2Fc%3Fd/chat/completions"]);
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
