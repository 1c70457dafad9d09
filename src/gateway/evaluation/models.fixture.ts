import { Random } from "../../core/random/random.ts";
import { DollarLimit } from "../access/dollar-limit.ts";
import { StandingClock } from "../clock/clock.fixture.ts";
import { type Clock, systemClock } from "../clock/clock.ts";
import { USUAL_CACHE } from "../providers/answer-price.ts";
import { ServedModel } from "../providers/served-model.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import type { Upstream, UpstreamRequest } from "../providers/upstream/upstream.ts";
import { NO_USAGE, type Price } from "../providers/upstream/usage.ts";
import { Journal } from "./journal.ts";
import { type CallSettings, PaidCalls } from "./paid-calls.ts";

/** The reply of a simulated model: its text and cost, or the code of an error. */
export type SimulatedReply =
  | { readonly text: string; readonly cost?: number | undefined }
  | { readonly error: UpstreamError["code"]; readonly cost?: undefined };

/** A model whose replies a test decides. */
export function simulatedModel(
  name: string,
  reply: (prompt: string, request: UpstreamRequest) => SimulatedReply | Promise<SimulatedReply>,
  price: Price | undefined = { input: 1, output: 2 },
  clock: Clock = systemClock,
): ServedModel {
  const host: Upstream = {
    name,
    async call(request) {
      const { messages } = JSON.parse(Buffer.from(request.body).toString());
      const replied = await reply(messages.at(-1).content, request);
      if ("error" in replied) throw new UpstreamError(replied.error, name, "fails");
      const message = { role: "assistant", content: replied.text };
      const usage = replied.cost === undefined ? undefined : { ...NO_USAGE, cost: replied.cost };
      const now = systemClock.now();
      const times = { sentAt: now, firstByteAt: now, endedAt: now };
      return {
        headers: {},
        body: (async function* () {
          yield Buffer.from(JSON.stringify({ choices: [{ index: 0, message }] }));
        })(),
        end: Promise.resolve({ usage, events: 0, ...times, error: undefined }),
      };
    },
  };
  const spec = {
    name,
    provider: "test",
    upstreamName: name,
    price,
    cache: USUAL_CACHE,
    capabilities: {},
    retries: 0,
  };
  const own = { name, provider: "test", upstreamName: name, weight: 1 };
  return new ServedModel(spec, [{ spec: own, upstream: host }], {
    clock,
    random: Random.seeded(1),
    onRetry: () => {},
  });
}

/** Calls with a journal in a file and a dollar limit. Their clock stands still except for their waits. */
export async function openCalls(
  file: string,
  dollars: number,
  settings: Partial<CallSettings> = {},
  clock: Clock = new StandingClock(),
  signal = new AbortController().signal,
) {
  const journal = await Journal.open(file);
  const limit = new DollarLimit(dollars, journal.spent);
  const random = Random.seeded(1);
  const calls = new PaidCalls(
    { maxTokens: 100, retries: 1, ...settings },
    { journal, limit, clock, random, signal },
  );
  return { journal, limit, calls };
}
