import { describe, expect, it } from "vitest";
import { familyOf, traitsOfAnswers } from "./judge-traits.ts";

const named = (upstreamName: string) => ({ upstreamName });

describe("facts that may bias a judge", () => {
  it.each([
    ["gpt-5.4-mini", "openai"],
    ["o3-pro", "openai"],
    ["openai/gpt-oss-120b", "openai"],
    ["us.anthropic.claude-sonnet-5", "anthropic"],
    ["meta-llama/Llama-3.3-70B-Instruct", "meta"],
    ["mixtral-8x7b", "mistral"],
    ["yi-34b", "yi"],
    ["deepseek-chat", "deepseek"],
  ])("%s is of the family %s", (name, family) => {
    expect(familyOf(named(name))).toBe(family);
  });

  it.each([
    ["gpt-5", "claude-4", 1],
    ["claude-4", "gpt-5", -1],
    ["gpt-5", "gpt-4", 0],
    ["claude-4", "gemini-3", 0],
  ])("%s against %s, judged by a model of OpenAI, gives %d", (a, b, own) => {
    const traits = traitsOfAnswers(named("o3"), [named(a), named(b)], ["12345", "1"]);
    expect(traits).toEqual({ own, length: Math.log(3) });
  });
});
