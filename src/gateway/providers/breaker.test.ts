import { expect, it } from "vitest";
import { StandingClock } from "../clock/clock.fixture.ts";
import { BREAKER, Breaker, guarded, type Passage } from "./breaker.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { AnswerEnd, Upstream, UpstreamAnswer, UpstreamRequest } from "./upstream/upstream.ts";

const clock = () => new StandingClock();
const call = (breaker: Breaker, isFailure: boolean) => breaker.enter()!.ended(isFailure);

function opened(time: StandingClock): Breaker {
  const breaker = new Breaker(time);
  for (let i = 0; i < BREAKER.minimum; i++) call(breaker, true);
  expect(breaker.state).toBe("open");
  return breaker;
}

it("opens at the error rate once there are enough outcomes", () => {
  const breaker = new Breaker(clock());
  for (let i = 0; i < BREAKER.minimum - 1; i++) call(breaker, true);
  expect(breaker.state).toBe("closed");
  expect(breaker.failures).toEqual({ rate: 1, of: BREAKER.minimum - 1 });
  call(breaker, true);
  expect(breaker.state).toBe("open");
  expect(breaker.enter()).toBeUndefined();
});

it("stays closed below the error rate", () => {
  const breaker = new Breaker(clock());
  for (let i = 0; i < 100; i++) call(breaker, i % 5 > 2);
  expect(breaker.state).toBe("closed");
  expect(breaker.failures.rate).toBeCloseTo(0.4);
});

it("forgets outcomes that are older than the window", () => {
  const time = clock();
  const breaker = new Breaker(time);
  for (let i = 0; i < BREAKER.minimum - 1; i++) call(breaker, true);
  time.pass(BREAKER.windowMs + 1);
  call(breaker, true);
  expect(breaker.state).toBe("closed");
  expect(breaker.failures.of).toBe(1);
});

it("lets one probe pass after it was open for its time, and closes if the probe is answered", () => {
  const time = clock();
  const breaker = opened(time);
  time.pass(BREAKER.openMs - 1);
  expect(breaker.enter()).toBeUndefined();
  expect(breaker.rest).toBe(1);
  time.pass(1);
  expect(breaker.state).toBe("half-open");
  const probe = breaker.enter()!;
  expect(breaker.enter()).toBeUndefined();
  probe.begun();
  expect(breaker.state).toBe("closed");
  expect(breaker.failures.of).toBe(0);
  probe.ended(false);
  expect(breaker.failures.of).toBe(1);
});

it("opens after a failed probe for twice as long, up to a limit", () => {
  const time = clock();
  const breaker = opened(time);
  for (let n = 1; n < 10; n++) {
    time.pass(breaker.rest);
    breaker.enter()!.ended(true);
    expect(breaker.state).toBe("open");
    expect(breaker.rest).toBe(Math.min(BREAKER.maxOpenMs, BREAKER.openMs * 2 ** n));
  }
});

it("lets another probe pass if the client of the first disconnected", () => {
  const time = clock();
  const breaker = opened(time);
  time.pass(breaker.rest);
  breaker.enter()!.abandoned();
  expect(breaker.state).toBe("half-open");
  expect(breaker.enter()).toBeDefined();
});

it("does not count calls that began before it opened", () => {
  const time = clock();
  const breaker = new Breaker(time);
  const late: Passage[] = Array.from({ length: 20 }, () => breaker.enter()!);
  for (let i = 0; i < BREAKER.minimum; i++) call(breaker, true);
  const { rest } = breaker;
  for (const passage of late) passage.ended(true);
  expect(breaker.rest).toBe(rest);
  time.pass(rest);
  breaker.enter()!.begun();
  expect(breaker.failures.of).toBe(0);
});

const REQUEST: UpstreamRequest = {
  endpoint: "chat/completions",
  body: Buffer.from("{}"),
  model: "m",
  stream: true,
};

function scripted(outcomes: (UpstreamError | { end: UpstreamError | undefined })[]): Upstream {
  return {
    name: "host",
    async call() {
      const outcome = outcomes.shift()!;
      if (outcome instanceof UpstreamError) throw outcome;
      const end = Promise.resolve({ error: outcome.end } as AnswerEnd);
      return { end } as UpstreamAnswer;
    },
  };
}

const failure = (code: UpstreamError["code"], status?: number) =>
  new UpstreamError(code, "host", "failed", status === undefined ? {} : { status });

it.each<[string, UpstreamError | { end: UpstreamError | undefined }, number | undefined]>([
  ["an answer", { end: undefined }, 0],
  ["a stream that breaks off", { end: failure("broken") }, 1],
  ["a stream whose client disconnects", { end: failure("cancelled") }, undefined],
  ["a 500", failure("status", 500), 1],
  ["a 429", failure("status", 429), 1],
  ["a refused key", failure("status", 401), 1],
  ["a timeout", failure("timeout"), 1],
  ["a bad request", failure("status", 400), 0],
  ["a client that disconnects", failure("cancelled"), undefined],
])("counts %s", async (_, outcome, rate) => {
  const breaker = new Breaker(clock());
  const upstream = guarded(scripted([outcome]), breaker);
  const answer = await upstream.call(REQUEST, new AbortController().signal).catch(() => undefined);
  await answer?.end;
  await Promise.resolve();
  expect(breaker.failures).toEqual({ rate: rate ?? 0, of: rate === undefined ? 0 : 1 });
});

it("does not count a failed request to count tokens, which some upstreams do not know", async () => {
  const breaker = new Breaker(clock());
  const outcomes = Array.from({ length: BREAKER.minimum }, () => failure("status", 404));
  const upstream = guarded(scripted(outcomes), breaker);
  const request = { ...REQUEST, endpoint: "messages/count_tokens", stream: false } as const;
  for (let i = 0; i < BREAKER.minimum; i++) {
    await expect(upstream.call(request, new AbortController().signal)).rejects.toThrow();
  }
  expect([breaker.state, breaker.failures.of]).toEqual(["closed", 0]);
});

it("refuses at once while open, with the remaining time, and does not call the upstream", async () => {
  const time = clock();
  const upstream = guarded(scripted([]), opened(time));
  const error = await upstream
    .call(REQUEST, new AbortController().signal)
    .catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: "circuit_open",
    clientStatus: 503,
    retryable: false,
    fault: "upstream",
  });
  expect(error.retryAfter).toBe(BREAKER.openMs);
});
