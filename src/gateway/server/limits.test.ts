import { createConnection } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { chat, PATIENCE, SANDBOX, SOON, sharedGateway } from "../gateway.fixture.ts";

vi.setConfig(PATIENCE);

/** Without exploration, so that the choice of a model does not depend on chance. */
const gateway = sharedGateway(
  () => `${SANDBOX}\nserver: {body_mb: 0.1, request_seconds: 1}\nrouters: {auto: {explore: 0}}`,
);

/** Writes bytes and tells what comes back until the connection ends. */
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

it("a body that nobody wants is read no further than others are", async () => {
  // 102,400 bytes a chunk, below the limit; with the second one it is passed.
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

it("a request that breaks off is counted as one whose client has gone", async () => {
  const { port } = new URL(gateway().url);
  const socket = createConnection(Number(port), "127.0.0.1");
  socket.write(`${HEAD}content-length: 100\r\n\r\n{"model"`, () => socket.destroy());
  const counted = async () => (await gateway().get("/metrics")).text;
  await expect
    .poll(counted, SOON)
    .toMatch(/joust_requests_total\{endpoint="\/v1\/chat\/completions",status="499"\} 1/);
});

it("a target may name its host, as those of proxies do", async () => {
  const end = "HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  expect(await raw(`GET http://localhost/healthz ${end}`)).toContain("HTTP/1.1 200");
  expect(await raw(`GET http://localhost/nowhere?x=1 ${end}`)).toContain("HTTP/1.1 404");
});

it("HEAD is answered as GET, without the body", async () => {
  const answer = await fetch(`${gateway().url}/healthz`, { method: "HEAD" });
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
  expect(Number(answer.headers.get("content-length"))).toBeGreaterThan(0);
});

describe("a request that is not one", () => {
  it.each([
    ["too large", chat("x".repeat(200_000)), 413],
    ["no JSON", "hello", 400],
    ["half of it", '{"model": "auto", "messages": [', 400],
    ["a list", "[1]", 400],
    ["nothing", "", 400],
    ["too deep", `{"model":"auto","messages":${"[".repeat(3000)}${"]".repeat(3000)}}`, 400],
    ["no model", { messages: [] }, 400],
    ["no messages", { model: "auto" }, 400],
    ["a wish that is none", chat("hi", { joust: { duels: true } }), 400],
    ["a wish out of range", chat("hi", { joust: { cost_quality_tradeoff: 11 } }), 400],
    ["an unknown model", chat("hi", { model: "gpt-77" }), 404],
    ["models that are not there", chat("hi", { joust: { allowed_models: ["gpt-77"] } }), 400],
  ])("%s", async (_, body, status) => {
    const answer = await gateway().post("/v1/chat/completions", body);
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
    expect(answer.json.error).toMatchObject({
      message: expect.any(String),
      type: expect.any(String),
    });
  });

  it.each([
    ["duel", "maybe", /^joust\.duel: has to be false, "auto" or true; hint: /],
    ["duell", true, /^joust: has no "duell"; hint: did you mean "duel"\? there is duel, cost_/],
    ["allowed_models", ["gpt-77"], /^allowed_models names no model of auto; hint: it has .*yi-34b/],
  ])("a wish %s: %j is told what it may be", async (name, value, message) => {
    const body = chat("hi", { joust: { [name]: value } });
    const { status, json } = await gateway().post("/v1/chat/completions", body);
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it("headers: wishes are checked there too", async () => {
    const { post } = gateway();
    const bad = await post("/v1/chat/completions", chat("hi"), { "x-joust-duel": "maybe" });
    expect([bad.status, bad.json.error.param]).toEqual([400, "x-joust-duel"]);
    const good = await post("/v1/chat/completions", chat("hi"), {
      "x-joust-cost-quality-tradeoff": "10",
      "x-joust-allowed-models": "yi-34b, gpt-3.5",
    });
    expect(good.headers.get("x-joust-model")).toBe("yi-34b");
  });

  it("compressed, at an unknown path, by another method", async () => {
    const { post, get } = gateway();
    expect((await post("/v1/route", "x", { "content-encoding": "gzip" })).status).toBe(415);
    const nowhere = await get("/v1/nowhere");
    expect([nowhere.status, nowhere.json.error.code]).toEqual([404, "not_found"]);
    const usual = async (path: string) => (await post(path, chat("hi"))).json.error.message;
    expect(await usual("/chat/completions")).toMatch(/hint: it is at \/v1\/chat\/completions/);
    expect(await usual("/v1/responses")).toMatch(/hint: ask at \/v1\/chat\/completions/);
    expect((await get("/v1/feedback")).status).toBe(404);
    expect((await get("/../../etc/passwd")).status).toBe(404);
    const broken = await get("/v1/decisions/%zz");
    expect([broken.status, broken.json.error.message]).toEqual([
      400,
      "the path has broken escapes; hint: % is written %25",
    ]);
  });

  it("no HTTP, headers without end, and drop by drop", async () => {
    expect(await raw("\0\0\0 hello\r\n\r\n")).toContain("400 Bad Request");
    expect(await raw(HEAD, `x: ${"y".repeat(40_000)}\r\n\r\n`)).toContain("431 ");
    expect(await raw(HEAD, "content-length: 100\r\n\r\n", '{"model"')).toContain("408 ");
    expect(await raw(HEAD)).toContain("408 ");
    // Without a length announced, and more than is read: the connection ends with the refusal.
    const chunk = `19000\r\n${"x".repeat(0x19000)}\r\n`;
    const endless = await raw(HEAD, "transfer-encoding: chunked\r\n\r\n", chunk, chunk);
    expect(endless).toMatch(/^HTTP\/1.1 413 .*connection: close/is);
    expect((await gateway().get("/healthz")).status).toBe(200);
  });
});
