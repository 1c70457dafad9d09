import { expect, it } from "vitest";
import type { ItemEvent } from "../items/event.ts";
import { ChatStreamParser } from "./stream-parser.ts";

it.each([2 ** 32 - 2, 1e8, -1, 1e308, 0.5])("ignores a choice with the index %s", (index) => {
  const events: ItemEvent[] = [];
  const parser = new ChatStreamParser();
  const push = (choices: unknown) =>
    parser.push(JSON.stringify({ id: "1", model: "m", choices }), (event) => events.push(event));
  push([{ index, delta: { content: "no" } }]);
  push([{ index: 0, delta: { content: "yes" }, finish_reason: "stop" }]);
  parser.push("[DONE]", (event) => events.push(event));
  expect(JSON.stringify(events)).not.toContain("no");
  expect(JSON.stringify(events)).toContain("yes");
  expect(events.at(-1)).toMatchObject({ type: "end" });
});
