import { resolve } from "node:path";
import { expect, it } from "vitest";
import { hashEncoder } from "../../core/encoder/hash.ts";
import { systemClock } from "../clock/clock.ts";
import { readSandbox, Sandbox } from "./sandbox.ts";

it("has the quality and cost of the profile for each model and category", async () => {
  const data = await readSandbox(resolve(import.meta.dirname, "../../../data"), hashEncoder);
  const sandbox = new Sandbox(data, { seed: 1, speed: Infinity, clock: systemClock });
  const N = 16;
  const ask = async (model: string, content: string) => {
    const chat = { n: N, messages: [{ role: "user", content }] };
    const body = Buffer.from(JSON.stringify(chat));
    const request = { endpoint: "chat/completions", body, model, stream: false } as const;
    const answer = await sandbox.call(request, new AbortController().signal);
    for await (const bytes of answer.body) return JSON.parse(Buffer.from(bytes).toString());
  };
  for (const model of sandbox.profile.models) {
    for (const kind of sandbox.profile.categories) {
      const own = data.questions.all.filter(({ category }) => category === kind);
      let right = 0;
      let cost = 0;
      for (const { query, answer, wrong } of own) {
        const { choices, usage } = await ask(model, query);
        const tokens = usage.prompt_tokens + usage.completion_tokens / N;
        cost += (tokens * sandbox.price(model).input) / 1e6 / own.length;
        for (const { message } of choices) {
          const isRight = message.content.includes(answer);
          if (isRight) right++;
          else expect(wrong.some((text) => message.content.includes(text))).toBe(true);
        }
      }
      const p = sandbox.profile.quality(model, kind);
      const draws = N * own.length;
      // There are 35 cells. A correct test fails beyond 4.8 standard deviations once in 10,000 runs.
      expect(Math.abs(right / draws - p)).toBeLessThan(4.8 * Math.sqrt((p * (1 - p)) / draws));
      // Greetings and wrong answers are drawn, and have different lengths.
      expect(Math.abs(cost / sandbox.profile.cost(model, kind) - 1)).toBeLessThan(0.05);
    }
  }
});
