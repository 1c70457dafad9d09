import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { StandingClock } from "../clock/clock.fixture.ts";
import { systemClock } from "../clock/clock.ts";
import { HttpUpstream } from "./http-upstream.ts";
import { RETRIES, retrying } from "./served-model.ts";
import { UpstreamError } from "./upstream/error.ts";
import {
  COMPLETION,
  type Fault,
  type Misbehaving,
  startMisbehaving,
} from "./upstream/misbehaving.fixture.ts";
import type { Upstream, UpstreamRequest } from "./upstream/upstream.ts";

const REQUEST: UpstreamRequest = {
  endpoint: "chat/completions",
  body: Buffer.from('{"model":"auto","messages":[]}'),
  model: "m",
  stream: false,
};
const never = new AbortController().signal;

describe("retrying", () => {
  const failing = (error: UpstreamError): Upstream & { calls: number } => ({
    name: "host",
    calls: 0,
    async call() {
      this.calls++;
      throw error;
    },
  });
  const refused = (status: number, retryAfter?: number) =>
    new UpstreamError("status", "host", "said no", { status, retryAfter });
  const waits = async (error: UpstreamError, settings = {}, seed = 1) => {
    const clock = new StandingClock();
    const upstream = failing(error);
    const again = retrying(upstream, { ...RETRIES, ...settings }, clock, Random.seeded(seed));
    await expect(again.call(REQUEST, never)).rejects.toBe(error);
    expect(upstream.calls).toBe(clock.sleeps.length + 1);
    return clock.sleeps;
  };

  it.each([408, 429, 500, 502, 503, 504, 529])("retries status %d", async (status) => {
    expect(await waits(refused(status))).toHaveLength(RETRIES.retries);
  });

  it.each([400, 401, 403, 404, 413, 422, 302])("does not retry status %d", async (status) => {
    expect(await waits(refused(status))).toEqual([]);
  });

  it("does not retry when the time of the caller is over, and says why the call failed", async () => {
    const error = refused(503);
    const over = new AbortController();
    const clock = new StandingClock();
    clock.sleep = () => {
      over.abort(new DOMException("late", "TimeoutError"));
      return Promise.reject(over.signal.reason);
    };
    const retried: UpstreamError[] = [];
    const again = retrying(failing(error), RETRIES, clock, Random.seeded(1), (one) => {
      retried.push(one);
    });
    await expect(again.call(REQUEST, over.signal)).rejects.toBe(error);
    expect(retried).toEqual([error]);
    // The time is over before the wait begins.
    await expect(again.call(REQUEST, over.signal)).rejects.toBe(error);
    expect(retried).toEqual([error]);
  });

  it("retries broken connections, timeouts and broken answers, and nothing else", async () => {
    const error = (code: UpstreamError["code"]) => new UpstreamError(code, "host", "failed");
    for (const code of ["unreachable", "timeout", "broken"] as const) {
      expect(await waits(error(code))).toHaveLength(RETRIES.retries);
    }
    for (const code of ["too_large", "circuit_open", "request", "cancelled"] as const) {
      expect(await waits(error(code))).toEqual([]);
    }
  });

  it("waits for a uniform time below base 2^attempt and below the cap", async () => {
    const settings = { retries: 8, baseMs: 100, capMs: 1000 };
    const runs = await Promise.all(
      Array.from({ length: 400 }, (_, seed) => waits(refused(500), settings, seed)),
    );
    for (let attempt = 0; attempt < 8; attempt++) {
      const most = Math.min(1000, 100 * 2 ** attempt);
      const drawn = runs.map((sleeps) => sleeps[attempt]! / most);
      expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...drawn)).toBeLessThan(1);
      const mean = drawn.reduce((sum, u) => sum + u, 0) / drawn.length;
      expect(Math.abs(mean - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / drawn.length));
    }
  });

  it("waits as long as the upstream asks, within limits", async () => {
    const [first] = await waits(refused(429, 2000));
    expect(first).toBeGreaterThanOrEqual(2000);
    expect(first).toBeLessThan(2000 + RETRIES.baseMs);
    expect(await waits(refused(429, RETRIES.maxRetryAfterMs + 1))).toEqual([]);
  });

  it("stops when the client disconnects", async () => {
    const client = new AbortController();
    const upstream = retrying(
      failing(refused(500)),
      RETRIES,
      new StandingClock(),
      Random.seeded(1),
      () => client.abort(),
    );
    await expect(upstream.call(REQUEST, client.signal)).rejects.toMatchObject({
      code: "cancelled",
    });
  });
});

describe("over a real connection", () => {
  let host: Misbehaving;
  beforeAll(async () => {
    host = await startMisbehaving();
  });
  afterAll(() => host.close());

  const ask = async (fault: Fault, stream: boolean) => {
    const clock = new StandingClock();
    const body = Buffer.from(JSON.stringify({ model: "auto", messages: [], stream }));
    const upstream = new HttpUpstream({ name: "host", url: host.url(fault) }, systemClock);
    const again = retrying(upstream, RETRIES, clock, Random.seeded(1));
    try {
      const answer = await again.call({ ...REQUEST, body, stream }, never);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      return { text: Buffer.concat(chunks).toString(), sleeps: clock.sleeps };
    } finally {
      await upstream.close();
    }
  };

  it.each<[Fault, number]>([
    ["resetOnce", 1],
    ["rateLimitedOnce", 1],
    ["error503Twice", 2],
  ])("%s succeeds after %d retries", async (fault, attempts) => {
    const { text, sleeps } = await ask(fault, false);
    expect(text).toBe(COMPLETION);
    expect(sleeps).toHaveLength(attempts);
    expect(sleeps[0]! >= 2000).toBe(fault === "rateLimitedOnce");
  });

  it("retries after an error that is the first event of a stream", async () => {
    expect((await ask("errorAtOnce", true)).text).toContain("Hel");
  });

  it("does not retry after the first byte", async () => {
    const before = host.received.length;
    await expect(ask("resetMidStream", true)).rejects.toMatchObject({ code: "unreachable" });
    expect(host.received.length).toBe(before + 1);
  });
});
