import { describe, expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { StandingClock } from "../clock/clock.fixture.ts";
import { balanced, byAffinity, Deployment, type DeploymentSpec } from "./deployment.ts";
import { MinuteWindow } from "./minute-window.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { Upstream, UpstreamAnswer, UpstreamRequest } from "./upstream/upstream.ts";
import { NO_USAGE } from "./upstream/usage.ts";

const never = new AbortController().signal;
const request: UpstreamRequest = {
  endpoint: "chat/completions",
  body: Buffer.from("{}"),
  model: "m",
  stream: false,
  tokens: 100,
};

function answered(promptTokens = 50): UpstreamAnswer {
  const usage = { ...NO_USAGE, promptTokens, completionTokens: 10 };
  const times = { sentAt: 0, firstByteAt: 0, endedAt: 0 };
  return {
    headers: {},
    body: (async function* () {})(),
    end: Promise.resolve({ usage, events: 0, ...times, error: undefined }),
  };
}

/** Deployments whose upstreams call `behave`, with a record of the calls. */
function deployments(
  specs: readonly (Partial<DeploymentSpec> & { readonly name: string })[],
  behave: (name: string) => Promise<UpstreamAnswer> = async () => answered(),
) {
  const clock = new StandingClock();
  const calls: string[] = [];
  const all = specs.map((spec) => {
    const host: Upstream = {
      name: spec.name,
      call: async ({ model }) => {
        calls.push(`${spec.name} ${model}`);
        return behave(spec.name);
      },
    };
    const full = { provider: "p", upstreamName: `m-${spec.name}`, weight: 1, ...spec };
    return new Deployment(full, host, { clock, onCall: () => {}, onRetry: () => {} });
  });
  const random = Random.seeded(1);
  const upstream = balanced("m", all, () => String(random.uniform()));
  const call = (more = {}, signal = never) => upstream.call({ ...request, ...more }, signal);
  return { clock, calls, all, call };
}

describe("the order of deployments", () => {
  it("follows their weights", () => {
    const { all } = deployments([{ name: "a", weight: 3 }, { name: "b" }]);
    let first = 0;
    for (let i = 0; i < 4000; i++) if (byAffinity(all, `key ${i}`)[0]!.spec.name === "a") first++;
    // The share is 3/4 with a standard deviation of 0.007.
    expect(first / 4000).toBeGreaterThan(0.72);
    expect(first / 4000).toBeLessThan(0.78);
  });

  it("keeps the keys of the others if one is removed", () => {
    const { all } = deployments([{ name: "a" }, { name: "b" }, { name: "c" }]);
    const left = all.slice(0, 2);
    for (let i = 0; i < 200; i++) {
      const before = byAffinity(all, `key ${i}`)[0]!;
      if (before !== all[2]) expect(byAffinity(left, `key ${i}`)[0]).toBe(before);
    }
  });
});

describe("calls", () => {
  it("of one conversation go to one deployment, under its own name of the model", async () => {
    const { calls, call } = deployments([{ name: "a" }, { name: "b" }]);
    for (let i = 0; i < 5; i++) await call({ affinity: "session 1" });
    expect(new Set(calls).size).toBe(1);
    expect(calls[0]).toMatch(/^(a m-a|b m-b)$/);
    for (let i = 0; i < 20; i++) await call({ affinity: `session ${i}` });
    expect(new Set(calls).size).toBe(2);
  });

  it("without a key are spread", async () => {
    const { calls, call } = deployments([{ name: "a" }, { name: "b" }]);
    for (let i = 0; i < 30; i++) await call();
    expect(new Set(calls).size).toBe(2);
  });

  it("that fail go to the next deployment at once", async () => {
    const fails = new Set(["a"]);
    const { calls, call } = deployments(
      [{ name: "a", weight: 1e9 }, { name: "b" }],
      async (name) => {
        if (fails.has(name)) throw new UpstreamError("unreachable", name, "is down");
        return answered();
      },
    );
    expect((await call()).deployment).toBe("b");
    expect(calls).toEqual(["a m-a", "b m-b"]);
    fails.add("b");
    await expect(call()).rejects.toMatchObject({ code: "unreachable" });
  });

  it("that are refused because of the request go to no other deployment", async () => {
    const { calls, call } = deployments([{ name: "a" }, { name: "b" }], async (name) => {
      throw new UpstreamError("request", name, "cannot be translated");
    });
    await expect(call()).rejects.toMatchObject({ code: "request" });
    expect(calls).toHaveLength(1);
  });

  it("that all fail end with an error that may be retried, if one of the errors may be", async () => {
    const failed = (name: string, status: number, retryAfter?: number) =>
      new UpstreamError("status", name, "said no", { status, retryAfter });
    const errors: Record<string, UpstreamError> = {
      a: failed("a", 429, 30_000),
      b: failed("b", 503),
      c: failed("c", 401),
    };
    const weighted = [{ name: "a", weight: 1e18 }, { name: "b", weight: 1e9 }, { name: "c" }];
    const { calls, call } = deployments(weighted, (name) => Promise.reject(errors[name]));
    await expect(call()).rejects.toBe(errors.b);
    expect(calls).toEqual(["a m-a", "b m-b", "c m-c"]);
  });

  it("go to no other deployment when the time of the caller is over", async () => {
    const caller = new AbortController();
    const { calls, call } = deployments([{ name: "a" }, { name: "b" }], async (name) => {
      caller.abort(new DOMException("late", "TimeoutError"));
      throw new UpstreamError("timeout", name, "is late");
    });
    await expect(call({}, caller.signal)).rejects.toMatchObject({ code: "timeout" });
    expect(calls).toHaveLength(1);
  });

  it("leave out a deployment that has failed often, until it is tried again", async () => {
    let isDown = true;
    const { clock, all, calls, call } = deployments(
      [{ name: "a", weight: 1e9 }, { name: "b" }],
      async (name) => {
        if (name === "a" && isDown) throw new UpstreamError("unreachable", name, "is down");
        return answered();
      },
    );
    for (let i = 0; i < 8; i++) await call();
    expect(all[0]!.state).toBe("open");
    calls.length = 0;
    await call();
    expect(calls).toEqual(["b m-b"]);
    isDown = false;
    clock.pass(10_000);
    expect((await call()).deployment).toBe("a");
    expect(all[0]!.state).toBe("closed");
  });
});

describe("limits per minute", () => {
  it("of requests let the next deployment answer", async () => {
    const { clock, calls, call } = deployments([{ name: "a", weight: 1e9, rpm: 2 }, { name: "b" }]);
    for (let i = 0; i < 4; i++) await call();
    expect(calls).toEqual(["a m-a", "a m-a", "b m-b", "b m-b"]);
    clock.pass(60_000);
    expect((await call()).deployment).toBe("a");
  });

  it("of tokens count the estimate first, then the usage", async () => {
    const { calls, call } = deployments([{ name: "a", weight: 1e9, tpm: 250 }, { name: "b" }]);
    // Each request is estimated at 100 tokens and has 60 in the end.
    for (let i = 0; i < 4; i++) await call();
    expect(calls).toEqual(["a m-a", "a m-a", "a m-a", "b m-b"]);
  });

  it("of tokens count the text of an answer without usage", async () => {
    const { calls, call } = deployments(
      [{ name: "a", weight: 1e9, tpm: 250 }, { name: "b" }],
      async () => {
        const answer = answered();
        return {
          ...answer,
          end: answer.end.then((end) => ({ ...end, usage: undefined, tokens: 40 })),
        };
      },
    );
    // The body of the request has 2 bytes.
    for (let i = 0; i < 5; i++) await call();
    expect(calls).toEqual(["a m-a", "a m-a", "a m-a", "a m-a", "b m-b"]);
  });

  it("of requests do not count calls that a circuit breaker stops", async () => {
    const { clock, all, call } = deployments([{ name: "a", rpm: 100 }], async (name) => {
      throw new UpstreamError("unreachable", name, "is down");
    });
    for (let i = 0; i < 8; i++) await expect(call()).rejects.toMatchObject({ code: "unreachable" });
    for (let i = 0; i < 100; i++)
      await expect(call()).rejects.toMatchObject({ code: "circuit_open" });
    clock.pass(5000);
    expect([all[0]!.state, all[0]!.wait(1)]).toEqual(["half-open", 0]);
  });

  it("of all deployments give an error that says when to try again", async () => {
    const { clock, call } = deployments([{ name: "a", rpm: 1 }]);
    await call();
    clock.pass(20_000);
    await expect(call()).rejects.toMatchObject({
      code: "limited",
      clientStatus: 429,
      retryAfter: 40_000,
      elsewhere: true,
      retryable: false,
    });
  });
});

it("a correction leaves the limits of all processes together with its estimate", async () => {
  const clock = new StandingClock();
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const upstream: Upstream = {
    name: "a",
    call: async () => {
      const answer = answered();
      return { ...answer, end: finished.then(() => answer.end) };
    },
  };
  const spec = { name: "a", provider: "p", upstreamName: "m", weight: 1, tpm: 250 };
  const tools = { clock, onCall: () => {}, onRetry: () => {} };
  const peer = new Deployment(spec, upstream, tools);
  const own = new Deployment(spec, upstream, {
    ...tools,
    onUsed: (_, ...used) => peer.usedElsewhere(...used),
  });
  const waits = (tokens: number) => [own.wait(tokens), peer.wait(tokens)];
  const answers = [await own.call(request, never), await own.call(request, never)];
  clock.pass(50_000);
  expect(waits(100)).toEqual([10_000, 10_000]);
  finish();
  for (const { end } of answers) await end;
  await Promise.resolve();
  // Two estimates of 100 tokens became 60 tokens each.
  expect(waits(130)).toEqual([0, 0]);
  expect(waits(131)).toEqual([10_000, 10_000]);
  clock.pass(10_000);
  for (const one of [own, peer]) one.usedElsewhere("tokens", 200, 0);
  expect(waits(50)).toEqual([0, 0]);
  expect(waits(51)).toEqual([60_000, 60_000]);
});

describe("a window of a minute", () => {
  it("forgets what is older", () => {
    const clock = new StandingClock();
    const window = new MinuteWindow(10, clock);
    window.add(6);
    clock.pass(30_000);
    window.add(4);
    expect(window.wait(1)).toBe(30_000);
    clock.pass(30_000);
    expect(window.wait(6)).toBe(0);
    expect(window.wait(7)).toBe(30_000);
  });

  it("gives no credit for an amount that it has forgotten", () => {
    const clock = new StandingClock();
    const window = new MinuteWindow(10, clock);
    window.add(10);
    clock.pass(59_000);
    window.add(-9, 59_000);
    expect([window.wait(9), window.wait(10)]).toEqual([0, 1000]);
    clock.pass(1000);
    window.add(-1, 60_000);
    window.add(6);
    expect([window.wait(4), window.wait(5)]).toEqual([0, 60_000]);
    // A correction upwards counts, even if the amount is gone.
    window.add(4, 60_000);
    expect(window.wait(1)).toBe(60_000);
  });

  it("admits an amount above its limit if it is empty", () => {
    const window = new MinuteWindow(10, new StandingClock());
    expect(window.wait(1000)).toBe(0);
    window.add(1);
    expect(window.wait(1000)).toBeGreaterThan(0);
    window.add(-1);
    expect(window.wait(1000)).toBe(0);
  });
});
