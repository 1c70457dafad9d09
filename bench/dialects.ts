import { CODECS } from "../src/gateway/codecs/codecs.ts";
import type { ItemEvent } from "../src/gateway/codecs/items/event.ts";
import { OpenAiStream } from "../src/gateway/providers/openai/stream.ts";
import { NamedEvents } from "../src/gateway/providers/upstream/named-events.ts";
import { translated } from "../src/gateway/providers/upstream/translated.ts";
import { Translator } from "../src/gateway/providers/upstream/translator.ts";
import type { Translation, UpstreamRequest } from "../src/gateway/providers/upstream/upstream.ts";
import { DIALECTS, type DialectName } from "../src/gateway/wire/dialect-names.ts";
import type { BenchResult } from "./bench.ts";
import { median } from "./median.ts";

const CHUNKS = 2000;
const ROUNDS = 15;
const MOST_EVENT_BYTES = 2 ** 20;

/**
 * Measures the processor time of a streamed chunk from the bytes of the upstream to those for the
 * client: find the event, check it and, if the client speaks another dialect, translate it. The reference
 * is JSON.parse and JSON.stringify of the same chunk in the same run.
 */
export async function dialects(): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  const translator = new Translator();
  for (const from of DIALECTS) {
    const { data, chunks } = streamOf(from);
    const starts = await Promise.all(DIALECTS.map((to) => translationOf(from, to, translator)));
    const times = ["reference", ...DIALECTS].map(() => [] as number[]);
    for (let round = -3; round < ROUNDS; round++) {
      const measured = [
        timed(() => {
          for (const each of data) JSON.stringify(JSON.parse(each));
        }),
        ...starts.map((start) => timed(() => pass(chunks, start()))),
      ];
      if (round < 0) continue; // warm-up
      for (const [i, time] of measured.entries()) times[i]!.push(time);
    }
    const [reference, ...others] = times.map((all) => (1000 * median(all)) / CHUNKS);
    figures[`${from}: parse and stringify, us per chunk`] = reference!;
    DIALECTS.forEach((to, i) => {
      const name = from === to ? `${from} unchanged` : `${from} to ${to}`;
      figures[`${name}, us per chunk`] = others[i]!;
      ratios[`${name} / parse and stringify`] = others[i]! / reference!;
    });
  }
  await translator.close();
  return { ratios, figures };
}

/** Returns a function that begins to translate an answer. */
async function translationOf(
  from: DialectName,
  to: DialectName,
  translator: Translator,
): Promise<() => Translation> {
  const check = () =>
    from === "chat"
      ? new OpenAiStream("bench", false, MOST_EVENT_BYTES)
      : new NamedEvents("bench", from, MOST_EVENT_BYTES);
  if (from === to) return check;
  const target = { name: "bench", dialect: from, requestsUsage: true, now: () => 1_700_000_000 };
  const { answer } = await translated(REQUESTS[to], target, translator);
  return () => answer(check());
}

function pass(chunks: readonly Buffer[], translation: Translation): void {
  let bytes = 0;
  const count = (piece: Uint8Array) => {
    bytes += piece.length;
  };
  for (const chunk of chunks) translation.push(chunk, count);
  translation.end(count);
  if (bytes < 10 * CHUNKS) throw new Error(`only ${bytes} bytes were passed on`);
}

const message = { role: "user", content: "hi" };
const REQUESTS: Readonly<Record<DialectName, UpstreamRequest>> = {
  chat: requestOf("chat/completions", { messages: [message] }),
  responses: requestOf("responses", { input: "hi" }),
  messages: requestOf("messages", { messages: [message], max_tokens: 10 }),
};

function requestOf(endpoint: UpstreamRequest["endpoint"], members: object): UpstreamRequest {
  const body = Buffer.from(JSON.stringify({ model: "model", stream: true, ...members }));
  return { endpoint, body, model: "model", stream: true };
}

/** Milliseconds of processor time. */
function timed(run: () => void): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The events of a long text as they arrive, one at a time, and the JSON in each. */
function streamOf(dialect: DialectName): { data: string[]; chunks: Buffer[] } {
  const writer = CODECS[dialect].streamWriter();
  const texts = [...events()].map((event) => writer.write(event)).filter((text) => text !== "");
  const lines = texts.join("").split("\n");
  const data = lines.flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));
  return { data, chunks: texts.map((text) => Buffer.from(text)) };
}

function* events(): Generator<ItemEvent> {
  const place = { choice: 0, index: 0 };
  yield { type: "start", id: "x_1", model: "model", created: 1_700_000_000 };
  yield { type: "item", ...place, item: { type: "message", role: "assistant", content: [] } };
  for (let i = 0; i < CHUNKS; i++) {
    yield {
      type: "delta",
      ...place,
      part: 0,
      kind: "text",
      text: i % 9 === 0 ? ' "so",\n' : " word",
    };
  }
  yield { type: "done", ...place };
  yield { type: "stop", choice: 0, stop: { reason: "end" } };
  yield { type: "end" };
}
