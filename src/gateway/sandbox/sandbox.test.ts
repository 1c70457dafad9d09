import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { StandingClock } from "../clock/clock.fixture.ts";
import { readUsage } from "../codecs/chat/usage.ts";
import { readExamples } from "./classifier.ts";
import {
  ask,
  call,
  DATA,
  never,
  open,
  questions,
  requestOf,
  sandbox,
  user,
} from "./sandbox.fixture.ts";
import type { Sandbox } from "./sandbox.ts";

const said = async (model: string, query: string, from = sandbox): Promise<string> =>
  (await ask({ model, ...user(query) }, from)).choices[0].message.content;

describe("the profile", () => {
  it("has five models and the seven categories of the questions", () => {
    expect(sandbox.profile.models).toHaveLength(5);
    expect(sandbox.profile.categories.toSorted()).toEqual(
      [...new Set(questions.all.map(({ category }) => category))].toSorted(),
    );
    expect(sandbox.profile.quality("pebble-mini", "hellaswag")).toBe(0.94);
    expect(sandbox.profile.cost("summit-pro", "gsm8k")).toBe(0.021);
    expect(sandbox.profile.best()).toBe("summit-pro");
    expect(() => sandbox.profile.quality("gpt-4", "mmlu")).toThrow(RangeError);
  });

  it("has a price per token at which the questions have the profile's mean cost", async () => {
    for (const model of ["pebble-mini", "summit-pro"]) {
      const { input } = sandbox.price(model);
      let byTokens = 0;
      let byProfile = 0;
      for (const { query, category } of questions.all) {
        const { usage } = await ask({ model, ...user(query) });
        byTokens += (usage.total_tokens * input) / 1e6;
        byProfile += sandbox.profile.cost(model, category);
      }
      expect(Math.abs(byTokens / byProfile - 1)).toBeLessThan(0.2);
    }
  });

  it("charges for the tokens: a longer prompt costs more, and no cost of its own is reported", async () => {
    const { query } = questions.all[3]!;
    const short = await ask({ model: "summit-pro", ...user(query) });
    const long = await ask({ model: "summit-pro", ...user(`${"word ".repeat(1000)}${query}`) });
    expect(long.usage.total_tokens - short.usage.total_tokens).toBeGreaterThan(900);
    for (const { usage } of [short, long]) expect(usage).not.toHaveProperty("cost");
  });
});

describe("an answer", () => {
  it("is the same for the same seed, model and prompt", async () => {
    const other = open();
    const { query } = questions.all[3]!;
    await said("summit-pro", "something else", other);
    for (const model of sandbox.profile.models) {
      expect(await said(model, query, other)).toBe(await said(model, query));
    }
  });

  it("depends on the seed and on the model", async () => {
    const other = open({ seed: 2 });
    const some = questions.all.slice(0, 20);
    const answers = (model: string, from: Sandbox) =>
      Promise.all(some.map(({ query }) => said(model, query, from)));
    const mine = await answers("summit-pro", sandbox);
    expect(await answers("summit-pro", other)).not.toEqual(mine);
    expect(await answers("abacus-14b", sandbox)).not.toEqual(mine);
  });

  it("says that it is simulated and does not reveal its model", async () => {
    for (const model of sandbox.profile.models) {
      for (const query of [questions.all[0]!.query, "tell me about whales"]) {
        const { system_fingerprint, choices } = await ask({ model, ...user(query) });
        expect(system_fingerprint).toBe("joust-sandbox");
        expect(choices[0].message.content).toContain("Joust sandbox: simulated answer");
        expect(choices[0].message.content).not.toMatch(/pebble|forge|abacus|quill|summit/i);
      }
    }
  });

  it("is a chat completion with usage", async () => {
    const { end, text } = await call({ model: "abacus-14b", ...user("Hi there") });
    const answer = JSON.parse(text);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      model: "abacus-14b",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant" } }],
    });
    expect(readUsage(answer.usage)).toMatchObject(end.usage!);
    expect(end.usage!.completionTokens).toBeGreaterThan(0);
  });

  it("to a free-form prompt explains the sandbox and says which quality it represents", async () => {
    const explained = await said("summit-pro", "write a sonnet about rain");
    expect(explained).toContain("This is the sandbox: no real model has read your question");
    expect(explained).toContain("suggested questions");
    expect(explained).toContain("key of a provider");
    expect(await said("summit-pro", "write a sonnet about rain")).toMatch(
      /placeholder for a (good|weak) answer to a request for writing/,
    );
    expect(await said("summit-pro", "write a function in python that adds two lists")).toMatch(
      /placeholder for a (right|wrong) answer to a programming task/,
    );
  });

  it("finds the question inside other text", async () => {
    const { query, answer, wrong } = questions.all[0]!;
    const messages = [
      { role: "system", content: "You are helpful." },
      {
        role: "user",
        content: [{ type: "text", text: `<system-reminder>noise</system-reminder>\n${query}` }],
      },
    ];
    const { choices } = await ask({ messages });
    expect([answer, ...wrong].some((text) => choices[0].message.content.includes(text))).toBe(true);
  });
});

describe("a question is found", () => {
  it("exactly, without its options, in capitals, and with a word changed", () => {
    for (const question of questions.all) {
      const { id, query } = question;
      const shouted = query.toUpperCase().replace(/[?.,]/g, " ");
      const words = query.split(" ");
      const changed = words.with(Math.floor(words.length / 2), "something").join(" ");
      for (const text of [
        query,
        `  ${query}\n`,
        query.replace(/\n[A-D]\) .*/gs, ""),
        shouted,
        changed,
      ]) {
        expect(questions.find(text)?.id, text).toBe(id);
      }
    }
  });

  it("only in texts that contain one", async () => {
    for (const name of ["exemplars", "dev", "test"]) {
      for (const { query } of await readExamples(resolve(DATA, "free-form", `${name}.jsonl`))) {
        expect(questions.find(query), query).toBeUndefined();
      }
    }
    expect(questions.find("")).toBeUndefined();
  });
});

describe("a stream", () => {
  const chunksOf = (text: string) => {
    const events = text.split("\n\n").slice(0, -1);
    expect(events.pop()).toBe("data: [DONE]");
    return events.map((event) => JSON.parse(event.slice("data: ".length)));
  };

  it("contains the answer token by token", async () => {
    const chat = { model: "quill-32b", n: 2, ...user(questions.all[30]!.query) };
    const whole = await ask(chat);
    const { text, pieces, end } = await call({ ...chat, stream: true });
    for (const piece of pieces) expect(piece).toMatch(/^(data: .*\n\n)+$/);
    const chunks = chunksOf(text);
    expect(end.events).toBe(chunks.length + 1);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        object: "chat.completion.chunk",
        system_fingerprint: "joust-sandbox",
        model: "quill-32b",
      });
    }
    for (const index of [0, 1]) {
      const mine = chunks.flatMap(({ choices }) =>
        choices.filter((choice: { index: number }) => choice.index === index),
      );
      expect(mine[0].delta).toEqual({ role: "assistant", content: "" });
      expect(mine.map(({ delta }) => delta.content ?? "").join("")).toBe(
        whole.choices[index].message.content,
      );
      expect(mine.map((choice) => choice.finish_reason).filter(Boolean)).toEqual(["stop"]);
    }
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    expect(readUsage(whole.usage)).toMatchObject(end.usage!);
  });

  it("ends with usage if the client requests it", async () => {
    const { text } = await call({
      ...user("hi"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const last = chunksOf(text).at(-1);
    expect(last.choices).toEqual([]);
    expect(last.usage.completion_tokens).toBeGreaterThan(0);
  });

  it("has the model's pace", async () => {
    const time = async (model: string, stream: boolean, speed: number) => {
      const clock = new StandingClock();
      const slow = open({ clock, speed });
      const { end } = await call(
        { model, ...user(questions.all[25]!.query), stream },
        undefined,
        slow,
      );
      const { completionTokens, reasoningTokens } = end.usage!;
      return {
        first: end.firstByteAt - end.sentAt,
        rate: (completionTokens - reasoningTokens) / ((end.endedAt - end.firstByteAt) / 1000),
        all: end.endedAt - end.sentAt,
      };
    };
    const fast = await time("pebble-mini", true, 1);
    expect(fast.first).toBe(150);
    expect(Math.abs(fast.rate / 110 - 1)).toBeLessThan(0.35);
    const slow = await time("summit-pro", true, 1);
    expect(slow.first).toBe(800);
    expect(slow.rate).toBeLessThan(fast.rate / 2);
    expect((await time("summit-pro", true, 4)).first).toBe(200);
    expect((await time("summit-pro", false, 1)).all).toBeGreaterThan(800);
    expect((await time("summit-pro", true, Infinity)).all).toBe(0);
  });

  it("stops when the client disconnects", async () => {
    const clock = new StandingClock();
    const slow = open({ clock, speed: 1 });
    const client = new AbortController();
    const answer = await slow.call(requestOf({ ...user("hi"), stream: true }), client.signal);
    client.abort();
    await expect(
      (async () => {
        for await (const _ of answer.body);
      })(),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect((await answer.end).error?.code).toBe("cancelled");
    const gone = slow.call(requestOf(user("hi")), AbortSignal.abort());
    await expect(gone).rejects.toMatchObject({ code: "cancelled", fault: "client" });
  });

  it("stops when the reader leaves the loop", async () => {
    const live = open({ speed: 1000 });
    const answer = await live.call(requestOf({ ...user("hi"), stream: true }), never);
    for await (const _ of answer.body) break;
    expect((await answer.end).error?.code).toBe("cancelled");
  });
});
