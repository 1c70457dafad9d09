import fc from "fast-check";
import { expect, it } from "vitest";
import { DIALECTS } from "../../wire/dialect-names.ts";
import type { Item } from "./item.ts";
import { readSignature, withoutForeignReasoning, writeSignature } from "./reasoning.ts";

it("a signature comes back with its origin through every other dialect", () => {
  const dialect = fc.constantFrom(...DIALECTS);
  const signature = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
  const model = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(
      dialect,
      dialect,
      signature,
      model,
      fc.boolean(),
      (from, to, sign, name, isRedacted) => {
        fc.pre(from !== to);
        const redacted = isRedacted ? true : undefined;
        const signed = { signature: sign, redacted, origin: { dialect: from, model: name } };
        expect(readSignature(writeSignature(signed, to), to)).toEqual(signed);
      },
    ),
    { seed: 1 },
  );
});

it("a dialect writes its own signatures as they are", () => {
  const signed = { signature: "abc", origin: { dialect: "messages", model: "m" } } as const;
  expect(writeSignature(signed, "messages")).toBe("abc");
  expect(readSignature("abc", "messages", "m")).toEqual(signed);
  expect(readSignature("", "messages", "m")).toEqual({});
});

it.each(["joust1", "joust1.chat", "joust1.gemini..bQ.x", "joust2.chat..bQ.x"])(
  "%s is read as a signature, not as a tag",
  (signature) => {
    expect(readSignature(signature, "messages")).toMatchObject({
      signature,
      origin: { dialect: "messages" },
    });
  },
);

const thought = (origin?: {
  dialect: "chat" | "responses" | "messages";
  model?: string;
}): Item => ({
  type: "reasoning",
  summary: ["s"],
  text: [],
  origin,
});
const question: Item = { type: "message", role: "user", content: [{ type: "text", text: "q" }] };

it.each([
  [
    { dialect: "messages", model: "claude" } as const,
    { dialect: "messages", model: "claude" } as const,
    true,
  ],
  [{ dialect: "messages" } as const, { dialect: "messages", model: "claude" } as const, true],
  [
    { dialect: "messages", model: "claude" } as const,
    { dialect: "messages", model: "haiku" } as const,
    false,
  ],
  [
    { dialect: "messages", model: "claude" } as const,
    { dialect: "responses", model: "claude" } as const,
    false,
  ],
  [
    { dialect: "chat", model: "deepseek" } as const,
    { dialect: "chat", model: "deepseek" } as const,
    true,
  ],
  [
    { dialect: "chat", model: "deepseek" } as const,
    { dialect: "chat", model: "qwen" } as const,
    false,
  ],
  [undefined, { dialect: "messages", model: "claude" } as const, false],
  [undefined, { dialect: "chat", model: "qwen" } as const, true],
])("reasoning of %j for %j is kept: %s", (origin, target, isKept) => {
  const items = [question, thought(origin), question];
  const left = withoutForeignReasoning(items, target);
  expect(left).toEqual(isKept ? items : [question, question]);
});
