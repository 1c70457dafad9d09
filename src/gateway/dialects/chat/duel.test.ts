import { expect, it } from "vitest";
import { chat } from "./chat.ts";

const chunk = (delta: object, finish_reason: string | null) =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);

it("both answers of a duel end with a reason, also where an upstream sends no [DONE]", () => {
  const writer = chat.duel({ id: "d", created: 1, model: "auto" });
  const open = writer.open({});
  const events = [0, 1].map((index) => {
    const rewrite = writer.rewrite(index);
    return rewrite(chunk({ content: "Hi" }, "stop")) + rewrite(chunk({ content: "!" }, "stop"));
  });
  const all = [
    open,
    ...events,
    writer.end(undefined, { error: undefined, isFirstLost: false }),
  ].join("");
  const chunks = all.split("\n\n").flatMap((event) => {
    const data = event.slice("data: ".length);
    return data === "" || data === "[DONE]" ? [] : [JSON.parse(data).choices[0]];
  });
  for (const index of [0, 1]) {
    const own = chunks.filter((choice) => choice.index === index);
    expect(own.map(({ delta }) => delta.content ?? "").join("")).toBe("Hi!");
    const reasons = own.map(({ finish_reason }) => finish_reason).filter((reason) => reason);
    expect(reasons).toEqual(["stop"]);
  }
  expect(all.endsWith("data: [DONE]\n\n")).toBe(true);
});
