import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanObject } from "../../wire/json.ts";
import type { Labels } from "../dialect.ts";
import { labelStream, labelWhole } from "./labels.ts";

const LABELS: Labels = {
  id: "ours",
  model: 'our "name"',
  joust: '{"decision_id":"ours"}',
};

const event = (content: string, more: object = {}) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", model: "m", choices: [{ delta: { content } }], ...more })}\n\n`;

function labelled(pieces: readonly string[]): string {
  const label = labelStream(LABELS);
  return pieces.map((piece) => Buffer.from(label(Buffer.from(piece))).toString()).join("");
}

const dataOf = (text: string) =>
  text
    .split("\n\n")
    .filter((part) => part.startsWith("data: {"))
    .map((part) => JSON.parse(part.slice("data: ".length)));

describe("labels of a stream", () => {
  it("change id and model of every event, add joust to the first, and nothing else", () => {
    const contents = fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(contents, fc.array(fc.boolean()), (said, cuts) => {
        const events = said.map((content) => event(content));
        const pieces: string[] = [];
        events.forEach((each, i) => {
          if (i > 0 && cuts[i]) pieces[pieces.length - 1] += each;
          else pieces.push(each);
        });
        const out = dataOf(labelled([...pieces, "data: [DONE]\n\n"]));
        expect(out).toHaveLength(said.length);
        out.forEach(({ joust, ...rest }, i) => {
          expect(joust).toEqual(i === 0 ? { decision_id: "ours" } : undefined);
          expect(rest).toEqual({
            id: "chatcmpl-ours",
            model: LABELS.model,
            choices: [{ delta: { content: said[i] } }],
          });
        });
      }),
      { seed: 1 },
    );
  });

  it.each([
    ["with spaces", ['{"id": "x", "model": "m"}', '{"id": "x", "model": "m"}']],
    [
      "with ids that change",
      ['{"id":"","model":""}', '{"id":"x","model":"m"}', '{"id":"y","model":"m"}'],
    ],
    ["with other spaces later", ['{"id":"x","model":"m"}', '{"id": "x", "model":"m"}']],
    [
      "with a model in some of them",
      ['{"id":"x","model":"m"}', '{"id":"x"}', '{"id":"x","model":"n"}'],
    ],
    ["with a model after the first", ['{"id":"x"}', '{"id":"x","model":"m"}', '{"id":"x"}']],
  ])("change id and model of events %s", (_, objects) => {
    const events = objects.map((object) => `data: ${object}\n\n`);
    for (const pieces of [events, [events.join("")]]) {
      const out = dataOf(labelled(pieces));
      out.forEach(({ id, model }, i) => {
        expect(id).toBe("chatcmpl-ours");
        expect(model).toBe(objects[i]!.includes("model") ? LABELS.model : undefined);
      });
    }
  });

  it("do not mistake text for a member", () => {
    const content = '"id":"chatcmpl-1","model":"m"';
    const [first, second] = dataOf(labelled([event("a"), event(content)]));
    expect(first.joust).toBeDefined();
    expect(second.choices[0].delta.content).toBe(content);
  });

  it.each([
    ["comments before", [": hi\n\n", event("a")]],
    ["no blank", [event("a").replace("data: ", "data:")]],
    ["CRLF and names", [`event: message\r\n${event("a").replaceAll("\n", "\r\n")}`]],
  ])("find the first event: %s", (_, pieces) => {
    const out = labelled(pieces);
    expect(out).toContain('{"id":"chatcmpl-ours"');
    expect(out.match(/"joust":{"decision_id":"ours"}}/g)).toHaveLength(1);
  });

  it.each([
    ["one event", [event("all", { usage: { prompt_tokens: 1, completion_tokens: 1 } })]],
    ["several", [event("a"), event("b", { usage: { prompt_tokens: 1, completion_tokens: 1 } })]],
  ])("add the cost to the event with the usage, in a stream of %s", (_, events) => {
    const label = labelStream(LABELS, () => 0.5);
    const text = events.map((one) => Buffer.from(label(Buffer.from(one))).toString()).join("");
    expect(dataOf(text).at(-1).joust).toEqual({ decision_id: "ours", cost: 0.5 });
  });

  it("replace those of another gateway before the model", () => {
    const other = { joust: { decision_id: "theirs" }, usage: { prompt_tokens: 1 } };
    const label = labelStream(LABELS, () => 0.5);
    const text = Buffer.from(label(Buffer.from(event("a", other) + event("", other)))).toString();
    expect(text).not.toContain("theirs");
    for (const { joust } of dataOf(text)) expect(joust).toEqual({ decision_id: "ours", cost: 0.5 });
  });

  it.each([
    ["data: {}\n\n", 'data: {"joust":{"decision_id":"ours"}}\n\n'],
    ["data: {\ndata: }\n\n", "data: {\ndata: }\n\n"],
  ])("%j", (piece, expected) => {
    expect(labelled([piece])).toBe(expected);
  });
});

it("labels a complete answer and keeps every other byte", () => {
  const body = '{ "id": "1", "model":"m" ,"x": 1.0e2, "choices":[{"model":"keep"}]}';
  expect(Buffer.from(labelWhole(scanObject(Buffer.from(body)), LABELS)).toString()).toBe(
    '{ "id": "chatcmpl-ours", "model":"our \\"name\\"" ,"x": 1.0e2, "choices":[{"model":"keep"}],"joust":{"decision_id":"ours"}}',
  );
});
