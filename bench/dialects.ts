import { CODECS } from "../src/gateway/codecs/codecs.ts";
import type { ItemEvent } from "../src/gateway/codecs/items/event.ts";
import { StreamTranslator } from "../src/gateway/codecs/translate.ts";
import { DIALECTS, type DialectName } from "../src/gateway/wire/dialect-names.ts";
import type { BenchResult } from "./bench.ts";
import { median } from "./median.ts";

const CHUNKS = 2000;
const ROUNDS = 15;

/**
 * Measures the processor time to translate a streamed chunk between every pair of dialects: parse the
 * upstream's event, write the client's. The reference is JSON.parse and JSON.stringify of the
 * same chunk in the same run.
 */
export async function dialects(): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  const streams = Object.fromEntries(DIALECTS.map((name) => [name, dataOf(name)]));
  for (const from of DIALECTS) {
    const data = streams[from]!;
    const pairs = DIALECTS.filter((to) => to !== from);
    const times = [from, ...pairs].map(() => [] as number[]);
    for (let round = -3; round < ROUNDS; round++) {
      const measured = [
        timed(() => {
          for (const each of data) if (each !== "[DONE]") JSON.stringify(JSON.parse(each));
        }),
        ...pairs.map((to) => timed(() => translate(data, from, to))),
      ];
      if (round < 0) continue; // warm-up
      for (const [i, time] of measured.entries()) times[i]!.push(time);
    }
    const [reference, ...others] = times.map((all) => (1000 * median(all)) / CHUNKS);
    figures[`${from}: parse and stringify, us per chunk`] = reference!;
    pairs.forEach((to, i) => {
      figures[`${from} to ${to}, us per chunk`] = others[i]!;
      ratios[`${from} to ${to} / parse and stringify`] = others[i]! / reference!;
    });
  }
  return { ratios, figures };
}

function translate(data: readonly string[], upstream: DialectName, client: DialectName): void {
  const translator = new StreamTranslator({ upstream, client, request: REQUEST });
  for (const each of data) translator.push(each);
  translator.end();
}

const REQUEST = { model: "model", stream: true, items: [] };

/** Milliseconds of processor time. */
function timed(run: () => void): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Data of the events of a long text. */
function dataOf(dialect: DialectName): string[] {
  const writer = CODECS[dialect].streamWriter();
  const text = [...events()].map((event) => writer.write(event)).join("");
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
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
