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
  const [prompt, ...answers] = partsOf(text) ?? [];
  if (prompt === undefined) return undefined;
  const question = find(prompt);
  const isRight = answers.map((answer) =>
    question ? answer.includes(question.answer) : RIGHT.test(answer),
  );
  const verdict = verdictOn(isRight, random);
  if (verdict === "tie") return "TIE";
  if (verdict === "both_bad") return "BAD";
  return verdict === 0 ? "A" : "B";
}

/**
 * The request and its two answers in the text of a comparison. It does not use a regular expression, because one with
 * three such parts takes time with the cube of the length.
 */
function partsOf(text: string): string[] | undefined {
  const [start, ...ends] = MARKS;
  if (!text.startsWith(start!)) return undefined;
  const parts: string[] = [];
  let from = start!.length;
  for (const end of ends) {
    const to = text.indexOf(end, from);
    if (to < 0) return undefined;
    parts.push(text.slice(from, to));
    from = to + end.length;
  }
  return parts;
}

/** The marks around the parts, as feedback/judge-prompt.ts writes them. */
const MARKS = [
  "<request>\n",
  "\n</request>\n<answer_a>\n",
  "\n</answer_a>\n<answer_b>\n",
  "\n</answer_b>",
];
/** The remark by which an answer in free form says that it is good. */
const RIGHT = /\(This is a placeholder for a (right|good) answer/;
