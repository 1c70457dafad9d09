import { expect, it } from "vitest";
import { drawBar, duration, encodeLine, statusLine } from "./status-line.ts";

it.each([
  [0, 3, "[                    ]"],
  [1, 2, "[==========          ]"],
  [3, 3, "[====================]"],
])("draws a bar for %d of %d", (done, total, bar) => {
  expect(drawBar(done, total)).toBe(bar);
});

it.each([
  [0, "0 s"],
  [59_001, "1 min 0 s"],
  [59_000, "59 s"],
  [3_600_000, "1 h 0 min"],
  [90 * 60_000, "1 h 30 min"],
])("writes %d ms as %s", (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text);
});

it("shows the progress of encoding and, once it is known, the time left", () => {
  const progress = { done: 1, total: 2, millisecondsLeft: undefined };
  expect(encodeLine(progress)).toBe("[==========          ] 1/2 queries encoded");
  expect(encodeLine({ ...progress, millisecondsLeft: 100 })).toMatch(/ encoded, 1 s left$/);
});

it("draws one line no wider than the terminal, and nothing in a pipe", () => {
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  expect(statusLine({ write })).toBeUndefined();
  const line = statusLine({ isTTY: true, columns: 10, write })!;
  line.show("0123456789");
  line.clear();
  expect(written).toBe("\r\x1b[2K012345678\r\x1b[2K");
});
