import fc from "fast-check";
import { expect, it } from "vitest";
import { EventCutter, EventTooLarge } from "./event-cutter.ts";

function cut(chunks: readonly string[], keep = (_: string) => true, max = 1e6) {
  const events: string[] = [];
  const passed: string[] = [];
  const cutter = new EventCutter(max);
  for (const chunk of chunks) {
    cutter.push(
      Buffer.from(chunk, "latin1"),
      (bytes, start, end) => {
        const event = bytes.toString("latin1", start, end);
        events.push(event);
        return keep(event);
      },
      (bytes) => passed.push(bytes.toString("latin1")),
    );
  }
  return { events, passed, rest: cutter.end().toString("latin1") };
}

it.each([
  ["data: a\n\ndata: b\n\n", ["data: a\n\n", "data: b\n\n"], ""],
  ["data: a\r\n\r\ndata: b\r\n\r\n", ["data: a\r\n\r\n", "data: b\r\n\r\n"], ""],
  ["data: a\r\rdata: b\r\r", ["data: a\r\r", "data: b\r\r"], ""],
  ["event: x\ndata: a\n\n: hi\n\n", ["event: x\ndata: a\n\n", ": hi\n\n"], ""],
  ["data: a\r\n\ndata: b", ["data: a\r\n\n"], "data: b"],
  ["\n\ndata: a\n", ["\n", "\n"], "data: a\n"],
  ["", [], ""],
])("cuts %j", (text, events, rest) => {
  expect(cut([text])).toMatchObject({ events, rest });
});

const line = fc.stringMatching(/^[ -~]{0,12}$/);
const text = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r")), {
    maxLength: 12,
  })
  .map((lines) => lines.flat().join(""));

it("finds the same events and loses no byte, however the text is split into chunks", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(200)), (whole, cuts) => {
      const places = [0, ...cuts.map((at) => at % (whole.length + 1)), whole.length].toSorted(
        (a, b) => a - b,
      );
      const chunks = places.slice(1).map((end, i) => whole.slice(places[i], end));
      const once = cut([whole]);
      const { events, passed, rest } = cut(chunks);
      expect(joined(events)).toEqual(joined(once.events));
      expect(events.join("") + rest).toBe(whole);
      expect(passed.join("")).toBe(events.join(""));
      expect(rest).toBe(once.rest);
      // Each event ends in a blank line.
      for (const event of events) expect(event).toMatch(/(^|\r\n|\n|\r)(\r\n|\n|\r)$/);
    }),
    { seed: 1, numRuns: 400 },
  );
});

/** Joins the LF of a CRLF that was split with its CR. */
function joined(events: readonly string[]): string[] {
  return events.reduce<string[]>((all, event) => {
    if (event === "\n" && all.at(-1)?.endsWith("\r")) all.push(`${all.pop()}${event}`);
    else all.push(event);
    return all;
  }, []);
}

it("passes on only the events that are kept", () => {
  fc.assert(
    fc.property(text, fc.nat(30), (whole, size) => {
      const chunks = whole.match(new RegExp(`[^]{1,${size + 1}}`, "g")) ?? [];
      const keep = (event: string) => event.length % 2 === 0;
      const { events, passed } = cut(chunks, keep);
      expect(passed.join("")).toBe(events.filter(keep).join(""));
    }),
    { seed: 1, numRuns: 200 },
  );
});

it("passes on a chunk of whole events without a copy", () => {
  const chunk = Buffer.from("data: a\n\ndata: b\n\n");
  new EventCutter(100).push(
    chunk,
    () => true,
    (bytes) => expect(bytes).toBe(chunk),
  );
  expect.assertions(1);
});

it("limits the size of an incomplete event", () => {
  expect(cut(["x".repeat(60), "x".repeat(40)], undefined, 100).rest).toHaveLength(100);
  expect(() => cut(["x".repeat(60), "x".repeat(41)], undefined, 100)).toThrow(EventTooLarge);
  expect(() => cut(["x".repeat(60), `${"x".repeat(41)}\n\n`], undefined, 100)).toThrow(
    EventTooLarge,
  );
});
