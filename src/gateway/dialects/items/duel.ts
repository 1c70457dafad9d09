import { CODECS } from "../../codecs/codecs.ts";
import { Accumulator } from "../../codecs/items/accumulate.ts";
import type { Answer } from "../../codecs/items/answer.ts";
import type { ItemEvent } from "../../codecs/items/event.ts";
import { answerId } from "../../codecs/translate.ts";
import type { Usage } from "../../providers/upstream/usage.ts";
import { isRecord, type Json } from "../../wire/json.ts";
import { AnonymousEvents, anonymousAnswer } from "../anonymous.ts";
import { textIn } from "../answer-text.ts";
import { anonymousCallId } from "../call-id.ts";
import type { DuelHead, DuelWriter } from "../dialect.ts";
import { rewriter } from "../rewriter.ts";
import { errorFields, messagesError } from "../upstream-error.ts";
import { labelStream, withNote } from "./labels.ts";

/**
 * Writes a duel in a dialect whose answers have no choices. The first answer is the response. The
 * second one, in the same form, is `joust.second`. In a stream, it is in the last event that has a
 * usage or an error: official clients refuse or drop events whose type they do not know.
 */
export function itemDuel(dialect: "responses" | "messages", duel: DuelHead): DuelWriter {
  const codec = CODECS[dialect];
  const { created, model } = duel;
  const head = { id: answerId(dialect, duel.id), model, created };
  const callIds = (slot: number) => (index: number) => anonymousCallId(duel, slot, index);
  const anonymous = (answer: Answer, slot: number, usage?: Usage): Json =>
    codec.writeAnswer({
      ...anonymousAnswer(answer, callIds(slot)),
      ...head,
      usage: usage && anonymousUsage(usage),
      extra: undefined,
    });
  const writer = codec.streamWriter();
  const second = new Accumulator();
  const label = (joust: Json) =>
    labelStream(dialect)({ id: duel.id, model, joust: JSON.stringify(joust) });
  let stop: ItemEvent = { type: "stop", choice: 0, stop: { reason: "end" } };
  let note: Json = {};
  let hasSecond = false;
  const first = (event: ItemEvent): string => {
    if (event.type === "stop") stop = event;
    return ENDS.has(event.type) ? "" : writer.write(event);
  };
  const secondAnswer = (usage?: Usage) =>
    hasSecond ? anonymous(second.answer(), 1, usage) : undefined;
  const labelled = (events: string) => Buffer.from(label(note)(Buffer.from(events))).toString();
  return {
    answerIn: (response) => {
      const answer: unknown = JSON.parse(Buffer.from(response).toString());
      return isRecord(answer) ? answer : undefined;
    },
    textOf: (answer) => textIn(codec.parseAnswer(answer)),
    whole: ([shown, other], usage, joust) => {
      const answer = anonymous(codec.parseAnswer(shown!), duel.isSecond ? 1 : 0, usage);
      const hidden = other && uncounted(anonymous(codec.parseAnswer(other), 1));
      return JSON.stringify({ ...answer, joust: { ...joust, second: hidden } });
    },
    open: (joust) => {
      note = joust;
      return labelled(writer.write({ type: "start", ...head }));
    },
    rewrite: (index) => {
      const events = new AnonymousEvents(callIds(index));
      const { push } = rewriter(dialect, (event) => {
        const own = events.push(event);
        if (index === 0) return own.map(first).join("");
        hasSecond = true;
        for (const each of own) second.push(each);
        return "";
      });
      return push;
    },
    fail: (indices, joust) => {
      note = joust;
      if (indices.includes(1)) hasSecond = false;
      return "";
    },
    end: (usage, { error, isFirstLost }) => {
      if (error) {
        return dialect === "messages"
          ? messagesError(error)
          : writer.write({ type: "error", error: errorFields(error) });
      }
      const total = usage && anonymousUsage(usage);
      const events: ItemEvent[] = isFirstLost
        ? [
            {
              type: "error",
              error: { message: "the first answer broke off", code: "upstream_broke_off" },
            },
          ]
        : [stop, { type: "end", usage: total }];
      const last = events.map((event) => writer.write(event)).join("");
      const complete = secondAnswer();
      if (!complete) return labelled(last);
      const other = uncounted(complete);
      if (dialect === "messages") return withNote(last, { second: other });
      note = { ...note, second: other };
      return labelled(last);
    },
    secondAnswer,
  };
}

/** Usage without the members that only some providers report, and without the cost. */
function anonymousUsage(usage: Usage): Usage {
  return { ...usage, cacheWrite1hTokens: 0, cost: undefined };
}

/**
 * An answer without its usage. The response has the usage of both answers together, because the usage of one answer
 * would reveal its upstream.
 */
function uncounted({ usage: _, ...answer }: Json): Json {
  return answer;
}

/** Events of one answer that the response of a duel writes itself. */
const ENDS: ReadonlySet<ItemEvent["type"]> = new Set(["start", "stop", "end", "error"]);
