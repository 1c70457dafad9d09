import { expect, it } from "vitest";
import { ChatText } from "./chat.ts";

it("collects the text of each choice of a stream, however its bytes are cut", () => {
  const text = new ChatText();
  const event = (index: number, content: string) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
  const bytes = Buffer.from(
    `${event(0, "é")}: hi\n\n${event(1, "b")}${event(0, "a")}data: [DONE]\n\n`,
  );
  for (let i = 0; i < bytes.length; i += 7) text.push(bytes.subarray(i, i + 7));
  expect([text.text(0), text.text(1), text.text(2)]).toEqual(["éa", "b", ""]);
});
