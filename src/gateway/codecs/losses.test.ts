import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { chatAnswer, chatRequest } from "./chat-wire.fixture.ts";
import { CODECS } from "./codecs.ts";
import type { Answer } from "./items/answer.ts";
import type { ItemRequest } from "./items/request.ts";
import { EFFECTS, loseAnswer, loseRequest } from "./losses.fixture.ts";
import { LOSSES, ownMembers } from "./losses-table.fixture.ts";
import { messagesAnswer, messagesRequest } from "./messages-wire.fixture.ts";
import { responsesAnswer, responsesRequest } from "./responses-wire.fixture.ts";

const REQUESTS: Record<DialectName, fc.Arbitrary<object>> = {
  chat: chatRequest,
  responses: responsesRequest,
  messages: messagesRequest,
};
const ANSWERS: Record<DialectName, fc.Arbitrary<object>> = {
  chat: chatAnswer,
  responses: responsesAnswer,
  messages: messagesAnswer,
};

const RUNS = { seed: 16, numRuns: 200 };
const SAMPLE = { seed: 16, numRuns: 100 };

/** The value as it arrives on the other side. */
const sent = (value: unknown): Json => JSON.parse(JSON.stringify(value));

const requestTo = (request: ItemRequest, to: DialectName) =>
  CODECS[to].parseRequest(sent(CODECS[to].writeRequest(request)));
const answerTo = (answer: Answer, to: DialectName) =>
  CODECS[to].parseAnswer(sent(CODECS[to].writeAnswer(answer)));

describe.each(DIALECTS)("%s", (from) => {
  const { parseRequest, writeRequest, parseAnswer, writeAnswer } = CODECS[from];

  it("reads and writes a request without any change", () => {
    fc.assert(
      fc.property(REQUESTS[from], (wire) => {
        expect(sent(writeRequest(parseRequest(sent(wire))))).toEqual(sent(wire));
      }),
      RUNS,
    );
  });

  it("reads and writes an answer without any change", () => {
    fc.assert(
      fc.property(ANSWERS[from], (wire) => {
        expect(sent(writeAnswer(parseAnswer(sent(wire))))).toMatchObject(sent(wire));
      }),
      RUNS,
    );
  });

  it.each(DIALECTS)("a request to %s loses exactly what the list says", (to) => {
    fc.assert(
      fc.property(REQUESTS[from], (wire) => {
        const request = parseRequest(sent(wire));
        expect(requestTo(request, to)).toEqual(loseRequest(request, to));
      }),
      RUNS,
    );
  });

  it.each(DIALECTS)("an answer to %s loses exactly what the list says", (to) => {
    fc.assert(
      fc.property(ANSWERS[from], (wire) => {
        const answer = parseAnswer(sent(wire));
        expect(withoutNewIds(answerTo(answer, to), answer)).toEqual(loseAnswer(answer, to));
      }),
      RUNS,
    );
  });
});

/** Responses give an id to items that have none. */
function withoutNewIds(read: Answer, original: Answer): Answer {
  const known = new Set(JSON.stringify(original).match(/"id":"[^"]*"/g));
  const choices = read.choices.map((choice) => ({
    ...choice,
    items: choice.items.map((item) =>
      "id" in item && !known.has(`"id":"${item.id}"`) ? { ...item, id: undefined } : item,
    ),
  }));
  return { ...read, choices };
}

it("each row of docs/http.md has an effect", () => {
  expect(Object.keys(EFFECTS).sort()).toEqual(LOSSES.map(({ field }) => field).sort());
});

it.each(DIALECTS)("members that only %s knows have no place in the internal form", (dialect) => {
  const shared = dialect === "messages" ? [] : ownMembers("chat and responses");
  const names = [...ownMembers(dialect), ...shared].filter((name) => /^[a-z_]+$/.test(name));
  const body = Object.fromEntries(names.map((name) => [name, ["x"]]));
  const { extra, ...known } = CODECS[dialect].parseRequest(body);
  expect({ ...extra?.openai, ...extra?.[dialect] }).toEqual(body);
  expect(known).toEqual({ model: "", stream: false, items: [] });
});

describe("the list can be wrong in neither direction", () => {
  const samples = DIALECTS.map((from) => ({
    requests: fc
      .sample(REQUESTS[from], SAMPLE)
      .map((wire) => CODECS[from].parseRequest(sent(wire))),
    answers: fc.sample(ANSWERS[from], SAMPLE).map((wire) => CODECS[from].parseAnswer(sent(wire))),
  }));
  const NAMES = LOSSES.map(({ field }) => field);
  const isListed = (name: string, to: DialectName) =>
    LOSSES.some((loss) => loss.field === name && loss.to.includes(to));
  /** Entries that another entry about the dialect covers. */
  const COVERED: Record<DialectName, string[]> = {
    chat: [
      "`reasoning.summary`: `concise`, `detailed`",
      "`thinking.display: omitted`",
      "two messages in a row in one answer",
    ],
    responses: [],
    messages: ["summary of reasoning", "`logprobs` of earlier answers"],
  };
  /** Whether a sample shows that the list would be wrong with this entry added or removed. */
  const shows = (name: string, to: DialectName) => {
    const wrong = NAMES.filter((other) => (other === name) !== isListed(other, to));
    return samples.some(
      ({ requests, answers }) =>
        requests.some((each) => differs(loseRequest(each, to), loseRequest(each, to, wrong))) ||
        answers.some((each) => differs(loseAnswer(each, to), loseAnswer(each, to, wrong))),
    );
  };

  it.each(DIALECTS)("each entry about %s is needed", (to) => {
    const needless = NAMES.filter((name) => isListed(name, to) && !shows(name, to));
    expect(needless).toEqual([]);
  });

  it.each(DIALECTS)("each entry that is not about %s would be wrong there", (to) => {
    const harmless = NAMES.filter((name) => !isListed(name, to) && !shows(name, to));
    expect(harmless).toEqual(COVERED[to]);
  });
});

const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
