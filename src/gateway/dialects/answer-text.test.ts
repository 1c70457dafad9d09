import { expect, it } from "vitest";
import { chat } from "./chat/chat.ts";

it("collects the text of the first choice of a stream, however its bytes are cut", () => {
  const text = chat.streamText();
  const event = (index: number, content: string) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
  const bytes = Buffer.from(
    `${event(0, "é")}: hi\n\n${event(1, "b")}${event(0, "a")}data: [DONE]\n\n`,
  );
  for (let i = 0; i < bytes.length; i += 7) text.push(bytes.subarray(i, i + 7));
  expect(text.text()).toBe("éa");
});
