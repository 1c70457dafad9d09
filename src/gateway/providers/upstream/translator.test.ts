import { expect, it, onTestFinished } from "vitest";
import { Untranslatable } from "../../codecs/items/unsupported.ts";
import { LARGE_BODY } from "../../wire/json.ts";
import { Translator } from "./translator.ts";
import { writtenRequest } from "./written-request.ts";

const ROUTE = { from: "chat", to: "messages", model: "claude", requestsUsage: true } as const;
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

it.each([
  ["small", "word"],
  ["large", LONG],
])(
  "a %s request gets the signatures of its model back and loses those of others",
  async (_, text) => {
    const tag = (model: string) => `joust1.messages..${Buffer.from(model).toString("base64url")}.`;
    const thinking = (signature: string) => ({ type: "thinking", thinking: "hm", signature });
    const request = (blocks: object[]) => ({
      model: "auto",
      thinking: { type: "adaptive" },
      messages: [
        { role: "user", content: text },
        { role: "assistant", content: [...blocks, { type: "text", text: "Hello" }] },
        { role: "assistant", content: [thinking(`${tag("b")}s2`)] },
        { role: "user", content: "More" },
      ],
    });
    const given = request([thinking(`${tag("a")}s1`), thinking(`${tag("b")}s2`), thinking("s3")]);
    const { body: own, members } = await newTranslator().restore({
      endpoint: "messages",
      body: Buffer.from(JSON.stringify(given)),
      model: "up",
      origin: "a",
      stream: false,
    });
    const restored = JSON.parse(Buffer.from(own).toString());
    const expected = request([thinking("s1"), thinking("s3")]);
    expect(restored.messages).toEqual([
      expected.messages[0],
      expected.messages[1],
      expected.messages[3],
    ]);
    expect([restored.thinking, members!.value("model")]).toEqual([{ type: "adaptive" }, "auto"]);
  },
);
