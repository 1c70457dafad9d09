import { afterAll, describe, expect, it } from "vitest";
import {
  chat,
  eventsOf,
  sharedGateway,
  startFaultyUpstream,
  startGateway,
} from "../gateway.fixture.ts";
import {
  type Fault,
  type Misbehaving,
  startMisbehaving,
} from "../providers/upstream/misbehaving.fixture.ts";

const HELLO = "Hello!";
/** Outcome for the client if the first model has this fault, for a complete answer and a stream. */
const FAULTS: Partial<Record<Fault, { whole?: Fate; stream?: Fate }>> = {
  hang: { whole: "fallback", stream: "fallback" },
  stall: { stream: "broken off" },
  reset: { whole: "fallback", stream: "fallback" },
  resetOnce: { whole: "answered", stream: "answered" },
  resetMidStream: { stream: "broken off" },
  resetAfterHead: { stream: "fallback" },
  slowFirstByte: { whole: "answered", stream: "answered" },
  dribble: { stream: "answered" },
  brokenSse: { stream: "broken off" },
  brokenEvent: { stream: "broken off" },
  cutEvent: { stream: "broken off" },
  earlyClose: { stream: "broken off" },
  noDone: { stream: "answered" },
  noBlankLine: { stream: "answered" },
  errorInStream: { stream: "broken off" },
  errorAtOnce: { stream: "answered" },
  error200: { whole: "fallback" },
  textError200: { whole: "fallback" },
  noChoices: { whole: "fallback" },
  halfJson: { whole: "fallback" },
  shortBody: { whole: "fallback" },
  hugeLine: { stream: "broken off" },
  rateLimited: { whole: "fallback", stream: "fallback" },
  error500: { whole: "fallback", stream: "fallback" },
  error503Twice: { whole: "answered", stream: "answered" },
  error400: { whole: "refused", stream: "refused" },
  error401: { whole: "fallback", stream: "fallback" },
  hugeError: { whole: "fallback", stream: "fallback" },
  redirect: { whole: "fallback", stream: "fallback" },
  html: { whole: "fallback", stream: "fallback" },
  plainText: { stream: "answered" },
  jsonForStream: { stream: "fallback" },
  gzip: { whole: "fallback", stream: "fallback" },
  namedEvents: { stream: "answered" },
};

/** Short limits only for tests of a limit, because other upstreams may be slow on a busy machine. */
const LIMITS: Partial<Record<Fault, string>> = {
  hang: "first_byte_seconds: 0.5, timeout_seconds: 1, ",
  stall: "timeout_seconds: 2, ",
};

type Fate = "answered" | "fallback" | "broken off" | "refused";

let host: Misbehaving;
afterAll(() => host.close());

/** Configuration with one model per fault and one that answers. */
const gateway = sharedGateway(async () => {
  host = await startMisbehaving();
  const names = [...Object.keys(FAULTS), "well"] as Fault[];
  return [
    "providers:",
    ...names.map((name) => `  ${name}: {url: "${host.url(name)}"}`),
    "models:",
    ...names.map((name) => {
      const cost = name === "well" ? 5 : 0.001;
      const limits = LIMITS[name] ?? "";
      return `  ${name}: {provider: ${name}, ${limits}price: {input: 0, output: ${cost}}}`;
    }),
    "routers: {auto: {explore: 0}}",
  ].join("\n");
});

describe("an upstream with a fault", () => {
  it.each(Object.entries(FAULTS))("%s: %o", async (fault, { whole, stream }) => {
    const { post, get } = gateway();
    const joust = { allowed_models: [fault, "well"] };
    for (const [fate, isStream] of [
      [whole, false],
      [stream, true],
    ] as const) {
      if (fate === undefined) continue;
      const { status, text, headers } = await post(
        "/v1/chat/completions",
        chat("hi", { stream: isStream, joust }),
      );
      const model = headers.get("x-joust-model");
      const id = headers.get("x-joust-decision-id");
      if (fate === "refused") {
        expect([status, model]).toEqual([400, null]);
        expect(JSON.parse(text).error.message).toBe("no: 400");
        continue;
      }
      expect(status).toBe(200);
      expect(model).toBe(fate === "fallback" ? "well" : fault);
      if (fate === "broken off") {
        expect(eventsOf(text).at(-1).error.message).toMatch(/./);
        expect(text).not.toContain("[DONE]");
      } else if (isStream) {
        const said = eventsOf(text).map(({ choices }) => choices?.[0]?.delta?.content ?? "");
        expect(said.join("")).toContain(HELLO);
      } else expect(JSON.parse(text).choices[0].message.content).toBe(HELLO);
      const first = isStream ? eventsOf(text)[0] : JSON.parse(text);
      // These upstreams count tokens, and send no usable answer. A cut one costs its prompt and its text.
      const costs = { noChoices: 6e-9, jsonForStream: 6e-9, halfJson: 4.5e-8 } as const;
      const cost = costs[fault as keyof typeof costs];
      const charged = cost && { cost: expect.closeTo(cost, 15) };
      const reason = { model: fault, reason: expect.stringMatching(/./), ...charged };
      expect(first.joust?.fallbacks).toEqual(fate === "fallback" ? [reason] : undefined);
      const { json } = await get(`/v1/decisions/${id}`);
      expect(json.answers).toMatchObject([
        { model, status: fate === "broken off" ? "failed" : "ok" },
      ]);
      if (fate === "broken off") expect(json.answers[0].cost).toBeGreaterThan(0);
    }
  });

  it("is not chosen by routers while its circuit breaker is open after many failures", async () => {
    const host = await startFaultyUpstream();
    const { post } = await startGateway(
      `providers: {bad: {url: "${host.url("error500")}"}, good: {url: "${host.url("well")}"}}
models:
  bad: {provider: bad, retries: 0, price: {input: 0, output: 0.001}}
  good: {provider: good, price: {input: 5, output: 5}}
routers: {auto: {explore: 0}}`,
    );
    const ask = async () => (await post("/v1/chat/completions", chat("hi"))).json;
    for (let i = 0; i < 8; i++) expect((await ask()).joust.fallbacks).toHaveLength(1);
    const { joust, model } = await ask();
    expect([model, joust.fallbacks]).toEqual(["good", undefined]);
    const direct = await post("/v1/chat/completions", chat("hi", { model: "bad" }));
    expect([direct.status, direct.json.error.code]).toEqual([503, "upstream_circuit_open"]);
    const { json } = await post("/v1/route", chat("hi"));
    expect(json.excluded).toEqual({ bad: "has failed often and is not called for now" });
    const duel = await post("/v1/chat/completions", chat("hi", { joust: { duel: true } }));
    expect(duel.json.joust.because).toBe(
      "no duel: only good can serve the request at present: bad has failed often and is not called for now",
    );
  });
});

describe("an upstream that repeats its key", () => {
  const KEY = "sk-very-secret-key-0123456789";
  it.each([
    ["keyIn400", false],
    ["keyIn500", false],
    ["keyIn200", false],
    ["keyIn400", true],
    ["keyInStream", true],
  ] as const)("%s does not reach the client or the log (stream: %s)", async (fault, stream) => {
    const host = await startFaultyUpstream();
    const { post, get, lines } = await startGateway(
      `providers: {p: {url: "${host.url(fault)}", key: ${KEY}}}
models: {m: {provider: p, retries: 0}}`,
    );
    for (const model of ["auto", "m"]) {
      const { text, headers } = await post("/v1/chat/completions", chat("hi", { model, stream }));
      expect(text).toContain("[redacted]");
      expect(text).not.toContain(KEY);
      const id = headers.get("x-joust-decision-id");
      if (id !== null) expect((await get(`/v1/decisions/${id}`)).text).not.toContain(KEY);
    }
    expect(lines.join("")).not.toContain(KEY);
  });
});

it("a refused key of a provider is logged once per hour, with what to correct", async () => {
  const host = await startFaultyUpstream();
  const { post, lines } = await startGateway(
    [
      `providers: {locked: {url: "${host.url("error401")}"}, open: {url: "${host.url("well")}"}}`,
      "models:",
      "  a: {provider: locked, price: {input: 0, output: 0.001}}",
      "  b: {provider: open, price: {input: 0, output: 5}}",
      "routers: {auto: {explore: 0}}",
    ].join("\n"),
  );
  for (let i = 0; i < 2; i++) {
    expect((await post("/v1/chat/completions", chat(HELLO))).json.joust.fallbacks).toEqual([
      { model: "a", reason: "status 401" },
    ]);
  }
  const warnings = lines
    .map((line) => JSON.parse(line))
    .filter(({ level, model }) => level === "warn" && model === "a");
  expect(warnings).toEqual([
    expect.objectContaining({
      msg: "locked answered 401",
      hint: "check the key of this provider",
    }),
  ]);
});
