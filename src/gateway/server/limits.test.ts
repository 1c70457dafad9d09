import { createConnection } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { chat, SANDBOX, sharedGateway, startGateway } from "../gateway.fixture.ts";

/** A gateway without exploration, so that the choice of a model does not depend on chance. */
const gateway = sharedGateway(
  () => `${SANDBOX}\nserver: {body_mb: 0.1, request_seconds: 1}\nrouters: {auto: {explore: 0}}`,
);

/** Writes bytes to a new connection; resolves with everything received when it closes. */
function raw(...pieces: readonly string[]): Promise<string> {
  const { port } = new URL(gateway().url);
  return new Promise((found) => {
    let text = "";
    const socket = createConnection(Number(port), "127.0.0.1", () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.on("data", (piece) => {
      text += piece;
    });
    socket.on("close", () => found(text));
    socket.on("error", () => {});
  });
}

const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";

it("discards the body of a refused request only up to the limit", async () => {
  // One chunk has 102,400 bytes, which is below the limit; two are above it.
  const chunk = `19000\r\n${"x".repeat(0x19000)}\r\n`;
  const refused = (pieces: readonly string[]) =>
    raw("POST /nowhere HTTP/1.1\r\nhost: localhost\r\n", ...pieces);
  const next = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  const small = ["transfer-encoding: chunked\r\n\r\n", chunk, "0\r\n\r\n", next];
  expect(await refused(small)).toMatch(/^HTTP\/1.1 404 .*HTTP\/1.1 200 /s);
  const large = ["transfer-encoding: chunked\r\n\r\n", chunk, chunk, "0\r\n\r\n", next];
  const answers = await refused(large);
  expect(answers).not.toContain("HTTP/1.1 200");
});

it("counts a request that breaks off with status 499", async () => {
  const { port } = new URL(gateway().url);
  const socket = createConnection(Number(port), "127.0.0.1");
  socket.write(`${HEAD}content-length: 100\r\n\r\n{"model"`, () => socket.destroy());
  const counted = async () => (await gateway().get("/metrics")).text;
  await expect
    .poll(counted)
    .toMatch(/joust_requests_total\{endpoint="\/v1\/chat\/completions",status="499"\} 1/);
});

it("accepts a request target that includes the host, as proxies get it", async () => {
  const end = "HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  expect(await raw(`GET http://localhost/healthz ${end}`)).toContain("HTTP/1.1 200");
  expect(await raw(`GET http://localhost/nowhere?x=1 ${end}`)).toContain("HTTP/1.1 404");
});

it("answers HEAD like GET, without the body", async () => {
  const answer = await fetch(`${gateway().url}/healthz`, { method: "HEAD" });
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
  expect(Number(answer.headers.get("content-length"))).toBeGreaterThan(0);
});

describe("refuses", () => {
  it.each([
    ["a large body", chat("x".repeat(200_000)), 413],
    ["text", "hello", 400],
    ["half a JSON object", '{"model": "auto", "messages": [', 400],
    ["a list", "[1]", 400],
    ["an empty body", "", 400],
    ["deep nesting", `{"model":"auto","messages":${"[".repeat(3000)}${"]".repeat(3000)}}`, 400],
    ["no model", { messages: [] }, 400],
    ["no messages", { model: "auto" }, 400],
    ["an unknown option", chat("hi", { joust: { duels: true } }), 400],
    ["an option out of range", chat("hi", { joust: { cost_quality_tradeoff: 11 } }), 400],
    ["an unknown model", chat("hi", { model: "gpt-77" }), 404],
    ["unknown allowed models", chat("hi", { joust: { allowed_models: ["gpt-77"] } }), 400],
  ])("%s", async (_, body, status) => {
    const answer = await gateway().post("/v1/chat/completions", body);
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
    expect(answer.json.error).toMatchObject({
      message: expect.any(String),
      type: expect.any(String),
    });
  });

  it("a body while other bodies take all the room, and accepts it when they are gone", async () => {
    const small = await startGateway(`${SANDBOX}\nserver: {body_mb: 0.01, buffer_mb: 0.01}`);
    const { port } = new URL(small.url);
    const socket = createConnection(Number(port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const body = JSON.stringify(chat("x".repeat(8000)));
    const half = `${HEAD}content-length: ${body.length}\r\n\r\n${body.slice(0, 7000)}`;
    await new Promise((done) => socket.write(half, done));
    const post = () => small.post("/v1/chat/completions", chat("y".repeat(8000)));
    await expect.poll(async () => (await post()).status).toBe(503);
    const refused = await post();
    expect(refused.json.error.code).toBe("overloaded");
    expect(refused.headers.get("retry-after")).toBe("1");
    socket.destroy();
    await expect.poll(async () => (await post()).status).toBe(200);
  });

  it("a large vote, whatever the limit of prompts is", async () => {
    const vote = { id: "x", winner: 0, voter: "x".repeat(70_000) };
    const { status, json } = await gateway().post("/v1/feedback", vote);
    expect([status, json.error.message]).toEqual([413, "the body is larger than 16384 bytes"]);
  });

  it.each([
    ["duel", "maybe", /^joust\.duel: must be false, "auto" or true$/, /openapi/],
    ["duell", true, /^joust: has no "duell"$/, /^did you mean "duel"\? known options: duel, cost_/],
    ["allowed_models", ["gpt-77"], /^allowed_models names no model of auto$/, /abacus-14b/],
  ])("the option %s: %j with a hint", async (name, value, message, hint) => {
    const body = chat("hi", { joust: { [name]: value } });
    const { status, json } = await gateway().post("/v1/chat/completions", body);
    expect([status, json.error.message, json.error.hint]).toEqual([
      400,
      expect.stringMatching(message),
      expect.stringMatching(hint),
    ]);
  });

  it("invalid options in headers", async () => {
    const { post } = gateway();
    const bad = await post("/v1/chat/completions", chat("hi"), { "x-joust-duel": "maybe" });
    expect([bad.status, bad.json.error.param]).toEqual([400, "x-joust-duel"]);
    const good = await post("/v1/chat/completions", chat("hi"), {
      "x-joust-cost-quality-tradeoff": "10",
      "x-joust-allowed-models": "abacus-14b, summit-pro",
    });
    expect(good.headers.get("x-joust-model")).toBe("abacus-14b");
  });

  it("compressed bodies, unknown paths and other methods", async () => {
    const { post, get } = gateway();
    expect((await post("/v1/route", "x", { "content-encoding": "gzip" })).status).toBe(415);
    const nowhere = await get("/v1/nowhere");
    expect([nowhere.status, nowhere.json.error.code]).toEqual([404, "not_found"]);
    const usual = async (path: string) => (await post(path, chat("hi"))).json.error.hint;
    expect(await usual("/chat/completions")).toMatch(/^use \/v1\/chat\/completions: the client/);
    expect(await usual("/v1/v1/messages")).toMatch(/^use \/v1\/messages: .* must not contain \/v1/);
    const other = await get("/v1/feedback");
    expect([other.status, other.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await get("/../../etc/passwd")).status).toBe(404);
    const broken = await get("/v1/decisions/%zz");
    expect([broken.status, broken.json.error]).toEqual([
      400,
      expect.objectContaining({
        message: "the path contains an invalid escape",
        hint: "write % as %25",
      }),
    ]);
  });

  it("bytes that are not HTTP, large headers and slow requests", async () => {
    expect(await raw("\0\0\0 hello\r\n\r\n")).toContain("400 Bad Request");
    expect(await raw(HEAD, `x: ${"y".repeat(40_000)}\r\n\r\n`)).toContain("431 ");
    expect(await raw(HEAD, "content-length: 100\r\n\r\n", '{"model"')).toContain("408 ");
    expect(await raw(HEAD)).toContain("408 ");
    // A large body without content-length: the connection ends with the response.
    const chunk = `19000\r\n${"x".repeat(0x19000)}\r\n`;
    const endless = await raw(HEAD, "transfer-encoding: chunked\r\n\r\n", chunk, chunk);
    expect(endless).toMatch(/^HTTP\/1.1 413 .*connection: close/is);
    expect((await gateway().get("/healthz")).status).toBe(200);
  });
});

describe("paths", () => {
  it.each([
    ["GET", "/v1/models/", 200],
    ["GET", "/v1/models/auto/", 200],
    ["GET", "/v1/models/__proto__", 404],
    ["GET", "/v1/models/a%2Fb%20c", 404],
    ["GET", `/v1/models/${"x".repeat(257)}`, 400],
    ["GET", "/v1/model", 404],
    ["GET", "/v1/models//", 400],
    ["GET", "/v1/models/a/b", 404],
    ["DELETE", "/v1/models", 405],
    ["POST", "/v1/models/auto", 405],
    ["OPTIONS", "/nowhere", 204],
  ])("%s %s has status %d", async (method, path, status) => {
    const response = await fetch(`${gateway().url}${path}`, { method });
    expect(response.status).toBe(status);
  });

  it("decodes a parameter", async () => {
    const { json } = await gateway().get("/v1/models/a%2Fb%20c");
    expect(json.error.message).toContain("`a/b c`");
  });
});
