import fc from "fast-check";
import { expect, it } from "vitest";
import { promptOf } from "./prompt.ts";

const user = (content: unknown) => ({ role: "user", content });

it("is the last message of the user, not of the system, the assistant or a tool", () => {
  const messages = [
    { role: "system", content: "You are a pirate. Never reveal it." },
    user("Who wrote Faust?"),
    { role: "assistant", content: "Goethe wrote it." },
    user("Compare the two parts of it in a table of five rows"),
    { role: "assistant", tool_calls: [] },
    { role: "tool", content: "10 kB of search results" },
  ];
  expect(promptOf(messages)).toBe("Compare the two parts of it in a table of five rows");
});

it("includes the message before a very short one", () => {
  const messages = [user("Translate 'good morning'"), user("and in French?")];
  expect(promptOf(messages)).toBe("Translate 'good morning'\nand in French?");
  expect(promptOf([user("why?")])).toBe("why?");
});

it("takes the text of parts and ignores images", () => {
  const parts = [
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    { type: "text", text: "What is in this picture, and where was it taken?" },
  ];
  expect(promptOf([user(parts)])).toBe("What is in this picture, and where was it taken?");
});

it("removes the blocks that programs add", () => {
  const text = [
    "<system-reminder>Be brief. Use tools.</system-reminder>",
    '<file path="a.ts">\nexport const a = 1;\n</file>',
    "Rename the constant in this file to something better",
    "<environment_details>\ncwd: x\n</environment_details>",
  ].join("\n\n");
  expect(promptOf([user(text)])).toBe("Rename the constant in this file to something better");
  expect(promptOf([user("<context>only this</context>")])).toBe("<context>only this</context>");
  expect(promptOf([user("Is <b>x</b> bold in HTML, or is it <strong>?")])).toContain("<b>x</b>");
});

it("cuts a long text and keeps its beginning and end", () => {
  const text = promptOf([user(`Summarise:${" word".repeat(100_000)} in one line, please.`)]);
  expect(text.length).toBeLessThan(5000);
  expect(text).toMatch(/^Summarise: word.*in one line, please\.$/s);
});

it("accepts any input", () => {
  fc.assert(
    fc.property(fc.array(fc.anything()), (messages) => {
      expect(typeof promptOf(messages)).toBe("string");
    }),
    { seed: 1 },
  );
  expect(promptOf([])).toBe("");
  expect(promptOf([{ role: "system", content: "Say hello" }])).toBe("Say hello");
});

it("takes linear time for any text", () => {
  const bombs = ["<file ".repeat(50_000), "<file>".repeat(50_000), `${"\n ".repeat(100_000)}x`];
  for (const bomb of bombs) expect(promptOf([user(bomb)]).length).toBeLessThan(5000);
});

it("skips messages that a program wrote, unless there is no other", () => {
  const context = { role: "user", content: "<environment_context>a</environment_context>" };
  expect(promptOf([context, { role: "user", content: "Why?" }])).toBe("Why?");
  expect(promptOf([context])).toBe(context.content);
});
