import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { chatAnswer } from "./chat-wire.fixture.ts";
import { CODECS } from "./codecs.ts";
import { Accumulator, eventsOf } from "./items/accumulate.ts";
import type { Answer } from "./items/answer.ts";
import type { ItemEvent } from "./items/event.ts";
import type { Item } from "./items/item.ts";
import { loseAnswer } from "./losses.fixture.ts";
import { messagesAnswer } from "./messages-wire.fixture.ts";
import { responsesAnswer } from "./responses-wire.fixture.ts";

const ANSWERS: Record<DialectName, fc.Arbitrary<object>> = {
  chat: chatAnswer,
  responses: responsesAnswer,
  messages: messagesAnswer,
};
const RUNS = { seed: 7, numRuns: 200 };

/** Answer of a dialect without members that streams leave out. */
const answerOf = (from: DialectName) =>
  ANSWERS[from].map((wire) => {
    const answer = CODECS[from].parseAnswer(JSON.parse(JSON.stringify(wire)));
    const plain = (item: Item): Item => ("extra" in item ? { ...item, extra: undefined } : item);
    const choices = answer.choices.map((choice) => ({ ...choice, items: choice.items.map(plain) }));
    return { ...answer, extra: undefined, choices };
  });

function write(dialect: DialectName, events: Iterable<ItemEvent>): string {
  const writer = CODECS[dialect].streamWriter();
  return [...events].map((event) => writer.write(event)).join("");
}

function dataOf(text: string): { event: string | undefined; data: string }[] {
  const all: { event: string | undefined; data: string }[] = [];
  createParser({ onEvent: ({ event, data }) => all.push({ event, data }) }).feed(text);
  return all;
}

function read(dialect: DialectName, text: string): ItemEvent[] {
  const parser = CODECS[dialect].streamParser();
  const events: ItemEvent[] = [];
  for (const { data } of dataOf(text)) parser.push(data, (event) => events.push(event));
  parser.end((event) => events.push(event));
  return events;
}

function accumulated(events: Iterable<ItemEvent>): Answer {
  const accumulator = new Accumulator();
  for (const event of events) accumulator.push(event);
  return accumulator.answer();
}

/** A completion from its chunks, as chat clients put it together. */
function completionOf(text: string): Json {
  const chunks = dataOf(text).flatMap(({ data }) => (data === "[DONE]" ? [] : [JSON.parse(data)]));
  const choices: Record<string, unknown>[] = [];
  for (const { index, delta, logprobs, finish_reason } of chunks.flatMap(
    (chunk) => chunk.choices,
  )) {
    choices[index] ??= { index, message: {}, logprobs: { content: [] } };
    const choice = choices[index] as { message: Json; logprobs: { content: unknown[] } };
    merge(choice.message, delta);
    choice.logprobs.content.push(...(logprobs?.content ?? []));
    Object.assign(choice, { finish_reason });
  }
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage;
  return { ...chunks[0], object: "chat.completion", choices, usage };
}

function merge(into: Record<string, unknown>, delta: Json): void {
  for (const [key, value] of Object.entries(delta)) {
    const old = into[key];
    if (typeof value === "string" && typeof old === "string" && key !== "id")
      into[key] = old + value;
    else if (Array.isArray(value)) {
      const list = Array.isArray(old) ? old : [];
      into[key] = list;
      for (const each of value) {
        list[each.index] ??= {};
        merge(list[each.index], each);
      }
    } else if (typeof value === "object" && typeof old === "object") {
      merge(old as Record<string, unknown>, value as Json);
    } else into[key] = value;
  }
}

/** Cuts each text in pieces of this many characters. */
function* cut(events: Iterable<ItemEvent>, size: number): Generator<ItemEvent> {
  for (const event of events) {
    if (event.type !== "delta") {
      yield event;
      continue;
    }
    const letters = [...event.text];
    for (let i = 0; i < letters.length; i += size) {
      const logprobs = i === 0 ? event.logprobs : undefined;
      yield { ...event, text: letters.slice(i, i + size).join(""), logprobs };
    }
  }
}

/** Events of each choice. Choices of one stream may be mixed. */
const byChoice = (events: readonly ItemEvent[]) =>
  Object.groupBy(events, (event) => ("choice" in event ? event.choice : event.type));

describe.each(DIALECTS)("a stream of %s", (from) => {
  it("is read as the events that were written", () => {
    fc.assert(
      fc.property(answerOf(from), fc.integer({ min: 1, max: 4 }), (answer, size) => {
        const events = [...cut(eventsOf(answer), size)];
        const found = read(from, write(from, events));
        expect(byChoice(found)).toEqual(byChoice(events));
        expect(found.at(-1)).toEqual(events.at(-1));
      }),
      RUNS,
    );
  });

  it.each(DIALECTS)("gives the same answer in %s as a translation of the whole answer", (to) => {
    fc.assert(
      fc.property(answerOf(from), fc.integer({ min: 1, max: 4 }), (answer, size) => {
        const text = write(to, cut(eventsOf(answer), size));
        // Chat clients concatenate all deltas of a member, even if deltas of other members come in between.
        const left =
          to === "chat" ? CODECS.chat.parseAnswer(completionOf(text)) : accumulated(read(to, text));
        const whole = CODECS[to].parseAnswer(
          JSON.parse(JSON.stringify(CODECS[to].writeAnswer(answer))),
        );
        expect({ ...left, extra: undefined }).toEqual({ ...whole, extra: undefined });
        if (to !== "responses") expect(left).toEqual(loseAnswer(answer, to));
      }),
      RUNS,
    );
  });
});

/** Events of a written stream as objects. */
const written = (to: DialectName, answer: Answer): Json[] =>
  dataOf(write(to, eventsOf(answer)))
    .filter(({ data }) => data !== "[DONE]")
    .map(({ event, data }) => {
      const value = JSON.parse(data);
      if (event !== undefined) expect(event).toBe(value.type);
      return value;
    });

it("responses number their events and end each item before the next one begins", () => {
  fc.assert(
    fc.property(answerOf("messages"), (answer) => {
      const events = written("responses", answer);
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
      expect(events.slice(0, 2).map(({ type }) => type)).toEqual([
        "response.created",
        "response.in_progress",
      ]);
      const ends = events.filter(({ type }) => String(type).startsWith("response.output_item"));
      ends.forEach((event, i) => {
        expect(event.type).toBe(`response.output_item.${i % 2 === 0 ? "added" : "done"}`);
        expect(event.output_index).toBe(Math.floor(i / 2));
      });
    }),
    RUNS,
  );
});

it("messages number their blocks and end each block before the next one begins", () => {
  fc.assert(
    fc.property(answerOf("responses"), (answer) => {
      const events = written("messages", answer);
      const blocks = events.filter(({ type }) => /block_(start|stop)$/.test(String(type)));
      blocks.forEach((event, i) => {
        expect(event.type).toBe(`content_block_${i % 2 === 0 ? "start" : "stop"}`);
        expect(event.index).toBe(Math.floor(i / 2));
      });
      expect(events[0]!.type).toBe("message_start");
      expect(events.slice(-2).map(({ type }) => type)).toEqual(["message_delta", "message_stop"]);
    }),
    RUNS,
  );
});
