import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../clock/clock.ts";
import { HttpUpstream } from "../http-upstream.ts";
import { type Misbehaving, startMisbehaving } from "../upstream/misbehaving.fixture.ts";
import { outgoing } from "./outgoing.ts";
import { asReceived, asSent, REQUEST_BODIES } from "./request-bodies.fixture.ts";

describe("over a real connection", () => {
  let host: Misbehaving;
  let upstream: HttpUpstream;
  beforeAll(async () => {
    host = await startMisbehaving();
    upstream = new HttpUpstream({ name: "host", url: host.url("well") }, systemClock);
  });
  afterAll(async () => {
    await upstream.close();
    await host.close();
  });

  it.each(Object.entries(REQUEST_BODIES))(
    "changes only the value of model and the joust member: %s",
    async (_, marked) => {
      const body = Buffer.from(asSent(marked));
      const { stream = false } = JSON.parse(body.toString());
      const request = { endpoint: "chat/completions", body, model: 'm/"1" é', stream } as const;
      const answer = await upstream.call(request, new AbortController().signal);
      for await (const _ of answer.body);
      const arrived = host.received.at(-1)!.body;
      expect(arrived.equals(Buffer.from(asReceived(marked, 'm/"1" é')))).toBe(true);
    },
  );
});

describe("the request for the usage of a stream", () => {
  const sent = (options: string, askUsage = true, stream = true) => {
    const body = Buffer.from(`{"model":"a","stream":true${options}}`);
    const request = { endpoint: "chat/completions", body, model: "m", stream } as const;
    const { body: out, hideUsage } = outgoing("host", request, askUsage);
    return [Buffer.from(out).toString(), hideUsage];
  };

  it.each([
    ["", ',"stream_options":{"include_usage":true}', true],
    [',"stream_options":null', ',"stream_options":{"include_usage":true}', true],
    [',"stream_options":{}', ',"stream_options":{"include_usage":true}', true],
    [',"stream_options":{ "x": 1.0 }', ',"stream_options":{ "x": 1.0,"include_usage":true }', true],
    [
      ',"stream_options":{"include_usage": false}',
      ',"stream_options":{"include_usage": true}',
      true,
    ],
    [
      ',"stream_options":{"include_usage": true}',
      ',"stream_options":{"include_usage": true}',
      false,
    ],
  ])("changes %j to %j", (before, after, hides) => {
    expect(sent(before)).toEqual([`{"model":"m","stream":true${after}}`, hides]);
  });

  it("is not added if the upstream always sends usage, nor without a stream", () => {
    expect(sent("", false)).toEqual(['{"model":"m","stream":true}', false]);
    expect(sent("", true, false)).toEqual(['{"model":"m","stream":true}', false]);
  });
});
