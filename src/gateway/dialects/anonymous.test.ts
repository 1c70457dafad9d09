import { expect, it } from "vitest";
import { anonymousAnswer } from "./anonymous.ts";

it("an anonymous answer may consist of an image", () => {
  const image = { type: "image", source: { type: "url", url: "https://host/cat.png" } } as const;
  const items = [{ type: "message", role: "assistant", content: [image] }] as const;
  const answer = { id: "", model: "", choices: [{ items, stop: { reason: "end" } }] } as const;
  expect(anonymousAnswer(answer, String).choices).toMatchObject([{ items }]);
});
