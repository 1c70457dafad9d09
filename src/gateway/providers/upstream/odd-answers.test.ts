import { describe, expect, it } from "vitest";
import { UpstreamError } from "./error.ts";
import { NamedEvents } from "./named-events.ts";
import type { Translation } from "./upstream.ts";
import { WholeAnswer } from "./whole-answer.ts";

/** Reads a response. Returns its error and what was passed on before. */
function read(translation: Translation, text: string) {
  let passed = "";
  const pass = (bytes: Uint8Array) => {
    passed += Buffer.from(bytes);
  };
  try {
    translation.push(Buffer.from(text), pass);
    translation.end(pass);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { passed, error };
  }
  return { passed, error: undefined };
}

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

describe("a response that has an error in the place of an answer", () => {
  it.each([
    ["of an object", { error: { message: "busy", code: 503 } }, 503, "busy"],
    ["of a text", { error: "busy" }, 500, "busy"],
  ])("is a failure before anything is passed on: a stream %s", (_, body, status, message) => {
    for (const dialect of ["messages", "responses"] as const) {
      const { passed, error } = read(new NamedEvents("host", dialect, 1e6), event(body));
      expect([passed, error?.status]).toEqual(["", status]);
      expect(error?.message).toContain(message);
    }
  });

  it("is a failure if the choice has the error, as OpenRouter sends it", () => {
    const error = { code: 502, message: "Provider returned error" };
    const failed = { index: 0, message: { role: "assistant", content: "" }, error };
    const whole = (...choices: object[]) =>
      read(new WholeAnswer("host", "chat/completions"), JSON.stringify({ id: "c", choices }));
    expect(whole(failed)).toMatchObject({ passed: "", error: { status: 502 } });
    expect(whole(failed, { ...failed, error: undefined }).error).toBeUndefined();
    expect(whole({ ...failed, error: null }).error).toBeUndefined();
  });
});

it("the usage of a failed stream of Responses is read", () => {
  const translation = new NamedEvents("host", "responses", 1e6);
  const usage = { input_tokens: 100, output_tokens: 7 };
  const response = { status: "failed", error: { code: "server_error", message: "no" }, usage };
  const { error } = read(translation, event({ type: "response.failed", response }));
  expect(error?.message).toContain("no");
  expect(translation.usage).toMatchObject({ promptTokens: 100, completionTokens: 7 });
});
