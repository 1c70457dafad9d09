import type { Random } from "../../core/random/random.ts";
import type { Question } from "./questions.ts";
import { verdictOn } from "./voters.ts";

/** Finds a question by its text. */
type FindQuestion = (text: string) => Question | undefined;

/**
 * The verdict of a simulated judge, or undefined if the text does not ask for one. The judge knows
 * which answers of the sandbox are right, and makes the same occasional errors as its voters.
 */
export function judgedVerdict(
  text: string,
  find: FindQuestion,
  random: Random,
): "A" | "B" | "TIE" | "BAD" | undefined {
  const [, prompt, a, b] = COMPARISON.exec(text) ?? [];
  if (prompt === undefined || a === undefined || b === undefined) return undefined;
  const question = find(prompt);
  const isRight = [a, b].map((answer) =>
    question ? answer.includes(question.answer) : RIGHT.test(answer),
  );
  const verdict = verdictOn(isRight, random);
  if (verdict === "tie") return "TIE";
  if (verdict === "both_bad") return "BAD";
  return verdict === 0 ? "A" : "B";
}

/** The form in which feedback/judge-prompt.ts shows two answers. */
const COMPARISON =
  /^<request>\n([\s\S]*?)\n<\/request>\n<answer_a>\n([\s\S]*?)\n<\/answer_a>\n<answer_b>\n([\s\S]*?)\n<\/answer_b>/;
/** The remark by which an answer in free form says that it is good. */
const RIGHT = /\(This is a placeholder for a (right|good) answer/;
