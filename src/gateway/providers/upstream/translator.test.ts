import { expect, it, onTestFinished } from "vitest";
import { Untranslatable } from "../../codecs/items/unsupported.ts";
import { LARGE_BODY } from "../../wire/json.ts";
import { Translator } from "./translator.ts";
import { writtenRequest } from "./written-request.ts";

const ROUTE = { from: "chat", to: "messages", model: "claude", asksUsage: true } as const;
const LONG = "word ".repeat(LARGE_BODY / 5);

function newTranslator(): Translator {
  const translator = new Translator();
  onTestFinished(() => translator.close());
  return translator;
}

function body(content: unknown): Buffer {
  const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
  return Buffer.from(
    JSON.stringify({ model: "auto", messages: [{ role: "user", content }], tools }),
  );
}

it("a large request is translated by another thread, with the same result", async () => {
  const large = body(LONG);
  const here = writtenRequest(large, ROUTE);
  const there = await newTranslator().translate(large, ROUTE);
  expect(Buffer.from(there.members.json).equals(here.members.json)).toBe(true);
  expect(there.members.value("model")).toBe("claude");
  // The items are large and not needed any more.
  expect(there.request).toEqual({ ...here.request, items: [] });
  // Other attempts still have the bytes.
  expect(large.length).toBeGreaterThan(LARGE_BODY);
});

it("a large request that cannot be translated is refused like a small one", async () => {
  const audio = { type: "input_audio", input_audio: { data: LONG, format: "wav" } };
  await expect(newTranslator().translate(body([audio]), ROUTE)).rejects.toThrow(Untranslatable);
});
