import { expect, it } from "vitest";
import { UpstreamError } from "./error.ts";
import { callInTurn } from "./fallback.ts";
import type { Upstream, UpstreamAnswer } from "./upstream.ts";

const asked: string[] = [];
const candidate = (model: string, outcome: UpstreamError | undefined) => {
  const upstream: Upstream = {
    name: `host of ${model}`,
    async call(request) {
      asked.push(request.model);
      if (outcome) throw outcome;
      return { status: 200 } as UpstreamAnswer;
    },
  };
  return { upstream, model };
};
const failure = (code: UpstreamError["code"], status?: number) =>
  new UpstreamError(code, "host", "failed", status === undefined ? {} : { status });
const REQUEST = { endpoint: "chat/completions", body: Buffer.from("{}"), stream: false } as const;
const never = new AbortController().signal;

it("asks the next one where another may do better, and tells what happened", async () => {
  asked.length = 0;
  const open = candidate("a", failure("circuit_open"));
  const unable = candidate("b", failure("request"));
  const able = candidate("c", undefined);
  const { candidate: answered, failures } = await callInTurn(
    [open, unable, able, candidate("d", undefined)],
    REQUEST,
    never,
  );
  expect(answered).toBe(able);
  expect(asked).toEqual(["a", "b", "c"]);
  expect(failures.map(({ candidate: one, error }) => [one.model, error.code])).toEqual([
    ["a", "circuit_open"],
    ["b", "request"],
  ]);
});

it.each([failure("status", 400), failure("cancelled")])("asks no other after %o", async (error) => {
  asked.length = 0;
  const call = callInTurn([candidate("a", error), candidate("b", undefined)], REQUEST, never);
  await expect(call).rejects.toBe(error);
  expect(asked).toEqual(["a"]);
});

it("throws the first one's error where none answers", async () => {
  const first = failure("status", 503);
  const call = callInTurn(
    [candidate("a", first), candidate("b", failure("timeout"))],
    REQUEST,
    never,
  );
  await expect(call).rejects.toBe(first);
  await expect(callInTurn([], REQUEST, never)).rejects.toThrow(/no candidate/);
});
