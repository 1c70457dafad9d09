import { describe, expect, it } from "vitest";
import { UpstreamError } from "./error.ts";
import { EventReader } from "./event-reader.ts";

/** Data of all events of a text, whose chunks have `size` bytes. */
function dataOf(text: string, size = text.length): (string | undefined)[] {
  const found: (string | undefined)[] = [];
  const reader = new EventReader("host", 1000, (bytes, start, end) => {
    found.push(reader.dataIn(bytes, start, end));
    return true;
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size), noop);
  reader.end(noop);
  return found;
}

const noop = () => {};

describe("the data of an event", () => {
  it.each([
    ["one line", "data: a\n\n", "a"],
    ["no space after the colon", "data:a\n\n", "a"],
    ["CRLF", "data: a\r\n\r\n", "a"],
    ["CR", "data: a\r\r", "a"],
    ["several lines", "data: a\ndata: b\n\n", "a\nb"],
    ["a name and an id", "event: x\nid: 7\ndata: a\n\n", "a"],
    ["no blank line at the end of the stream", "data: a", "a"],
    ["characters of several bytes", "data: ä😀\n\n", "ä😀"],
    ["a comment", ": still here\n\n", undefined],
    ["a name alone", "event: x\n\n", undefined],
  ])("is read: %s", (_, text, data) => {
    expect(dataOf(text)).toEqual([data]);
  });

  it.each([1, 3, 1000])("is the same in chunks of %d bytes", (size) => {
    const text = "data: a\n\ndata: b\r\rdata: c\r\n\r\ndata: ä\n\n";
    expect(dataOf(text, size).filter(Boolean)).toEqual(["a", "b", "c", "ä"]);
  });

  it("is read without searching the whole event for each line that ends in CR", () => {
    // With such a search, these lines would take minutes.
    const bytes = Buffer.from(`data: a\r${":\r".repeat(1_500_000)}\r`);
    const found: unknown[] = [];
    const reader = new EventReader("host", 4 * 2 ** 20, (event, start, end) => {
      found.push(reader.dataIn(event, start, end));
      return true;
    });
    reader.push(bytes, noop);
    expect(found).toEqual(["a"]);
  });

  it("is refused if a line is not a field of an event", () => {
    expect(() => dataOf('{"error": "overloaded"}\n\n')).toThrow(UpstreamError);
  });
});

it.each([
  ["a name and empty data", "event: response.completed\ndata:\n\n"],
  ["empty data that has no end", "data: "],
])("passes an event with %s on as a comment", (_, text) => {
  const passed: string[] = [];
  const pass = (bytes: Uint8Array) => void passed.push(Buffer.from(bytes).toString());
  const reader = new EventReader("host", 1000, (bytes, start, end) => {
    reader.dataIn(bytes, start, end);
    return reader.passed(bytes, start);
  });
  reader.push(Buffer.from(text), pass);
  reader.end(pass);
  expect(passed.join("")).toBe(":\n\n");
});
