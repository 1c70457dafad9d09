import { expect, test } from "vitest";
import { Random } from "../../core/random/random.ts";
import { StandingClock } from "../clock/clock.fixture.ts";
import { USUAL_CACHE } from "./answer-price.ts";
import { attemptSlot } from "./attempt.ts";
import { type DeployedUpstream, ServedModel } from "./served-model.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { Upstream } from "./upstream/upstream.ts";
import { NO_USAGE } from "./upstream/usage.ts";

const never = new AbortController().signal;
const REQUEST = {
  endpoint: "chat/completions",
  body: Buffer.from("{}"),
  model: "m",
  stream: false,
} as const;

function served(...upstreams: Upstream[]): ServedModel {
  const spec = {
    name: "m",
    provider: "p",
    upstreamName: "m",
    cache: USUAL_CACHE,
    capabilities: {},
  };
  const deployed = upstreams.map(
    (upstream): DeployedUpstream => ({
      spec: { name: upstream.name, provider: "p", upstreamName: "m", weight: 1 },
      upstream,
    }),
  );
  const tools = { clock: new StandingClock(), random: Random.seeded(1), onRetry: () => {} };
  return new ServedModel({ ...spec, retries: 1, price: { input: 1, output: 1 } }, deployed, tools);
}

test("a model that is given up has spent what its earlier attempts did", async () => {
  let calls = 0;
  const model = served({
    name: "host",
    call: (_, signal) =>
      new Promise((_, reject) => {
        const code = calls++ === 0 ? "broken" : "cancelled";
        const error = new UpstreamError(code, "host", "failed");
        error.lost = code === "broken" ? [{ ...NO_USAGE, promptTokens: 1000 }] : [];
        if (code === "broken") reject(error);
        else {
          signal.addEventListener("abort", () => reject(error));
          attempt.giveUp();
        }
      }),
  });
  const counter = { upstreamError: () => {}, fallback: () => {} };
  const attempt = attemptSlot(0, model, REQUEST, never, counter, new StandingClock());
  expect(await attempt.answer).toBeUndefined();
  expect(attempt.error).toMatchObject({ code: "timeout", message: "m was too late for the duel" });
  expect(model.lostCost(attempt.error?.lost)).toBe(0.001);
});

test("a model that is given up while it answers costs its prompt, and what was set aside", async () => {
  const model = served({
    name: "host",
    call: (_, signal) =>
      new Promise((_, reject) => {
        const error = new UpstreamError("cancelled", "host", "failed");
        error.isAbandoned = true;
        signal.addEventListener("abort", () => reject(error));
      }),
  });
  const counter = { upstreamError: () => {}, fallback: () => {} };
  const request = { ...REQUEST, promptTokens: 2000 };
  const attempt = attemptSlot(0, model, request, never, counter, new StandingClock());
  attempt.giveUp();
  expect(await attempt.answer).toBeUndefined();
  expect(attempt.error).toMatchObject({ code: "timeout", isAbandoned: true });
  expect(model.lostCost(attempt.error?.lost)).toBe(0.002);
});

test("an answer that was cut costs its prompt, also if the next attempt succeeds", async () => {
  let calls = 0;
  const end = { events: 0, sentAt: 0, firstByteAt: 0, endedAt: 0, usage: NO_USAGE };
  const model = served({
    name: "host",
    call: () => {
      if (calls++ > 0) {
        const done = Promise.resolve({ ...end, error: undefined });
        return Promise.resolve({ headers: {}, body: (async function* () {})(), end: done });
      }
      const error = new UpstreamError("broken", "host", "failed");
      error.isAbandoned = true;
      return Promise.reject(error);
    },
  });
  const answer = await model.call({ ...REQUEST, promptTokens: 2000 }, never);
  expect(model.lostCost((await answer.end).lost)).toBe(0.002);
});

test("a response is sought at every deployment", async () => {
  const fails = (error: UpstreamError | string): Upstream => ({
    name: "host",
    call: () => Promise.reject(new Error("not called")),
    held: () => {
      if (typeof error === "string") throw new UpstreamError("request", "host", error);
      return Promise.reject(error);
    },
  });
  const status = (code: number) => new UpstreamError("status", "host", "failed", { status: code });
  const answer = {
    headers: {},
    body: (async function* () {})(),
    end: new Promise<never>(() => {}),
  };
  const keeps = { ...fails(status(404)), held: () => Promise.resolve(answer) };
  const held = (...all: Upstream[]) =>
    served(...all).held({ method: "GET", path: "resp_1" }, never);
  const other = fails("does not speak the Responses API");
  expect(await held(other, fails(status(404)), fails(status(503)), keeps)).toBe(answer);
  // The deployment that did not answer may keep it.
  await expect(held(other, fails(status(503)), fails(status(404)))).rejects.toMatchObject({
    status: 503,
  });
  await expect(held(fails(status(404)), other)).rejects.toMatchObject({ status: 404 });
  await expect(held(other)).rejects.toMatchObject({ code: "request" });
});
