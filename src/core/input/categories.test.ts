import { expect, it } from "vitest";
import { categoryName } from "./categories.ts";

it.each([
  ["mmlu", ["MMLU", " mmlu "]],
  ["mt-bench", ["MT-Bench", "mt_bench", "MT bench", "mtbench"]],
  ["mbpp", ["MBPP"]],
  ["hellaswag", ["HellaSwag", "Hella_Swag"]],
  ["winogrande", ["Winogrande", "WinoGrande", "winograde"]],
  ["gsm8k", ["GSM8K", "GSM8k", "grade-school-math"]],
  ["arc-challenge", ["ARC", "arc_challenge", "ARC-Challenge", "ai2_arc"]],
])("%s has one spelling", (name, spellings) => {
  for (const spelling of [name, ...spellings]) expect(categoryName(spelling)).toBe(name);
});

it("leaves other categories unchanged", () => {
  expect(categoryName("natural_qa")).toBe("natural_qa");
  expect(categoryName("International Law")).toBe("International Law");
});
