import { describe, expect, it } from "vitest";
import { StandingClock } from "../../clock/clock.fixture.ts";
import { scanObject } from "../../wire/json.ts";
import { LEARNED_MS } from "../upstream/refusal.ts";
import { ParameterProfile } from "./profile.ts";

describe("learned rules", () => {
  const refused = (name: string, more: object = {}) =>
    ({ kind: "unsupported_parameter", parameters: [{ name, ...more }] }) as const;
  /** Members that all refused parameters of these tests are among. */
  const BODY = {
    store: true,
    text: { verbosity: "low" },
    presence_penalty: 1,
    max_tokens: 10_000,
    messages: [
      { role: "developer", content: "a" },
      { role: "assistant", content: "b", reasoning_content: "c" },
      { role: "user", content: [{ text: "d", cache_control: { type: "ephemeral", scope: "s" } }] },
    ],
    tools: [{ name: "f", defer_loading: true }],
    thinking: { type: "adaptive" },
    n: 1,
    stop: "x",
    response_format: { type: "text" },
    model: "m",
  };
  /** The rules of a request that was sent once. */
  const sent = (profile: ParameterProfile, body: object = BODY) => {
    const rules = profile.forRequest();
    rules.adapter([])("chat", scanObject(Buffer.from(JSON.stringify(body))));
    return rules;
  };

  it.each([
    ["store", {}, { drop: ["store"] }],
    ["text.verbosity", {}, { drop: ["text.verbosity"] }],
    ["presencePenalty", {}, { drop: ["presence_penalty"] }],
    ["max_tokens", {}, { rename: { max_tokens: "max_completion_tokens" } }],
    ["max_tokens", { instead: "n_predict" }, { rename: { max_tokens: "n_predict" } }],
    ["max_tokens", { max: 8192 }, { max: { max_tokens: 8192 } }],
    ["messages[0].role", {}, { noDeveloper: true }],
    ["thinking", {}, { drop: ["thinking"] }],
    ["tools.0.custom.defer_loading", {}, { dropFromTools: ["defer_loading"] }],
    ["messages.0.content.0.cache_control.ephemeral.scope", {}, { dropFromCache: ["scope"] }],
    ["messages.2.assistant.reasoning_content", {}, { dropFromMessages: ["reasoning_content"] }],
    ["reasoning_content", {}, { dropFromMessages: ["reasoning_content"] }],
  ])("%s %j", (name, more, expected) => {
    const profile = new ParameterProfile({}, new StandingClock());
    const rules = sent(profile);
    const refusal = refused(name, more);
    expect(rules.find(refusal, refusal)).toBe(true);
    expect(profile.rules).toBeUndefined();
    rules.confirm();
    expect(profile.rules).toMatchObject(expected);
    expect(sent(profile).find(refusal, refusal)).toBe(false);
  });

  it.each(["tools", "messages[0].content", "n", "stop", "response_format", "model"])(
    "%s decides what the client gets, so it is never left out",
    (name) => {
      const profile = new ParameterProfile({}, new StandingClock());
      expect(sent(profile).find(refused(name), refused(name))).toBe(false);
      expect(profile.rules).toBeUndefined();
    },
  );

  it("are not found for a parameter that was not sent", () => {
    const profile = new ParameterProfile({}, new StandingClock());
    const rules = sent(profile, { messages: [] });
    for (const name of ["temperature", "max_tokens", "messages.0.role", "reasoning_content"]) {
      expect(rules.find(refused(name), refused(name))).toBe(false);
    }
    // The gateway itself adds this one.
    expect(rules.find(refused("stream_options"), refused("stream_options"))).toBe(true);
  });

  it("are found for a parameter that is null", () => {
    const rules = sent(new ParameterProfile({}, new StandingClock()), { max_tokens: null });
    expect(rules.find(refused("max_tokens"), undefined)).toBe(true);
  });

  it("are not remembered if the message quotes the request, but tried for the request itself", () => {
    const profile = new ParameterProfile({}, new StandingClock());
    const rules = sent(profile, { temperature: 1 });
    expect(rules.find(refused("temperature"), { kind: "request" })).toBe(true);
    rules.confirm();
    expect(profile.rules).toBeUndefined();
  });

  it("expire after an hour", () => {
    const clock = new StandingClock();
    const profile = new ParameterProfile({ drop: ["a"] }, clock);
    profile.learn([{ drop: ["b"] }]);
    clock.pass(LEARNED_MS - 1);
    expect(profile.rules?.drop).toEqual(["a", "b"]);
    clock.pass(1);
    expect(profile.rules?.drop).toEqual(["a"]);
  });

  it("are limited in number", () => {
    const profile = new ParameterProfile({}, new StandingClock());
    for (let i = 0; i < 200; i++) profile.learn([{ drop: [`p${i}`] }]);
    expect(profile.rules?.drop).toHaveLength(50);
  });
});
