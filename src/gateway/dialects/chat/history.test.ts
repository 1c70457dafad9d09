import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { historyOf } from "./history.ts";

test("the hash of a prefix comes from the prefix before it and its last message", () => {
  const systems = ["You are kind.", "You are brief.", "You are kind."];
  for (const system of systems) {
    const messages = [
      { role: "system", content: system },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
    ];
    let hash = "";
    const hashes = messages.map(({ role, content }) => {
      const text = `${hash}\n${role.length} ${role}${content}`;
      hash = createHash("sha256").update(text).digest("base64url");
      return hash;
    });
    const { prefixes } = historyOf(messages, false);
    expect(prefixes.map((prefix) => prefix.hash)).toEqual(hashes);
    expect(prefixes.map(({ isHead }) => isHead)).toEqual([true, false, false]);
  }
});

test("the share of a prefix is its part of all characters", () => {
  const messages = [
    { role: "user", content: "abcdef" },
    { role: "assistant", content: "a" },
  ];
  const { prefixes } = historyOf(messages, false);
  expect(prefixes.map(({ share }) => share)).toEqual([0.5, 1]);
  expect(prefixes.map(({ answerShare }) => answerShare)).toEqual([0, 0.5]);
});
