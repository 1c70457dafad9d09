import { expect, it } from "vitest";
import { LanguageWatch, looksEnglish } from "./language-watch.ts";

it.each([
  ["Why is the sky blue, and what would change that?", true],
  ["fix it", true],
  ["def add(a, b): return a + b", true],
  ["", true],
  ["Pourquoi le ciel est-il bleu et non pas vert comme la mer ?", false],
  ["Warum ist der Himmel blau und nicht grün wie das Meer dort?", false],
  ["为什么天空是蓝色的？", false],
  ["Почему небо голубое", false],
])("%j looks English: %s", (text, isEnglish) => {
  expect(looksEnglish(text)).toBe(isEnglish);
});

it("reports the share of other languages once there are enough prompts", () => {
  const watch = new LanguageWatch();
  for (let i = 0; i < 50; i++) watch.observe("为什么天空是蓝色的？");
  expect(watch.foreignShare).toBe(0);
  for (let i = 0; i < 200; i++) watch.observe("为什么天空是蓝色的？");
  expect(watch.foreignShare).toBe(1);
  for (let i = 0; i < 4000; i++) watch.observe("Why is the sky blue?");
  expect(watch.foreignShare).toBeLessThan(0.01);
});
