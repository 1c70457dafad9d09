import type { Random } from "../../core/random/random.ts";

/**
 * Answers to questions that are not among the bundled ones. The sandbox does not know the answer, so
 * it explains the sandbox, describes a good or a bad answer and says which it is: a person can vote
 * on it as on a real answer.
 */
export function freeFormAnswer(
  category: string,
  text: string,
  isRight: boolean,
  random: Random,
): string {
  const { name, right, wrong, isOpen } = ANSWERS[category] ?? OTHER;
  const lines = isRight ? right : wrong;
  const line = lines[random.integer(lines.length)]!.replace("{subject}", subjectOf(text));
  const quality = isOpen ? ["weak", "good"] : ["wrong", "right"];
  return [
    "This is the sandbox: no real model has read your question, so nobody can answer it. A simulated model would have answered like this:",
    `> ${line.replaceAll("\n", "\n> ")}`,
    `(This is a placeholder for a ${quality[Number(isRight)]} answer to ${name}.)`,
    "To see how Joust learns, vote for the better description, or choose one of the suggested questions: the sandbox has right and wrong answers to them. Real models answer as soon as the gateway has the key of a provider; the page Setup shows how.",
  ].join("\n\n");
}

interface FreeForm {
  readonly name: string;
  /** Whether there is no single right answer. */
  readonly isOpen?: boolean;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

const ANSWERS: Readonly<Record<string, FreeForm>> = {
  mmlu: {
    name: "a knowledge question",
    right: [
      "On {subject}: this answer gives the established view, as in any good textbook of the field, and explains the reason for it. It also checks the usual exceptions; none of them applies here.",
      "Regarding {subject}: this answer gives the accepted fact, explains why it is true, and mentions the most common mistake.",
    ],
    wrong: [
      "On {subject}: this answer sounds certain, but it confuses two things that have similar names.",
      "Regarding {subject}: this answer presents a popular belief as a fact, although the belief is false.",
    ],
  },
  "mt-bench": {
    name: "a request for writing or advice",
    isOpen: true,
    right: [
      "About {subject}: this answer does what you asked for, in your tone and at the right length, makes two concrete suggestions, and ends with a clear recommendation.",
      "For {subject}: this answer starts with what matters most to you, offers a version that you can use as it is, and stays short.",
    ],
    wrong: [
      "About {subject}: there are several aspects to consider, and each of them has advantages and disadvantages. In the end it depends.",
      "For {subject}: this answer is longer than you asked for, and drifts to a different topic.",
    ],
  },
  mbpp: {
    name: "a programming task",
    right: [
      "Here is a function for {subject}. It handles empty and very large input, and it passes its tests:\n\n```python\ndef solve(data):\n    return checked(result_of(data))\n```",
      "For {subject}, a few lines are enough, and they cover the edge cases:\n\n```python\ndef solve(data):\n    if not data:\n        return default_of(data)\n    return result_of(data)\n```",
    ],
    wrong: [
      "Here is a function for {subject}. It works for the example, but fails for an empty list:\n\n```python\ndef solve(data):\n    return result_of(data[0])\n```",
      "For {subject} you can use this library function, which does not exist:\n\n```python\nfrom tools import solve\n```",
    ],
  },
  hellaswag: {
    name: "the question how an everyday situation continues",
    right: [
      "In the situation {subject}: this answer describes the most natural next step, which follows directly from what happened so far.",
      "After {subject}: this answer continues with what is at hand and completes what was started.",
    ],
    wrong: [
      "In the situation {subject}: this answer describes something that must have happened much earlier.",
      "After {subject}: this answer describes something that has nothing to do with the situation.",
    ],
  },
  winogrande: {
    name: "the question what a word refers to",
    right: [
      "In {subject}: this answer names the one for which the given reason makes sense. With the other one, the sentence would contradict itself.",
      "In {subject}: only one reading makes sense. This answer gives it, with the reason.",
    ],
    wrong: [
      "In {subject}: this answer simply names the one that was mentioned last.",
      "In {subject}: this answer names the one that was mentioned first, and ignores the given reason.",
    ],
  },
  gsm8k: {
    name: "a maths problem",
    right: [
      "For {subject}: this answer writes down the given numbers, calculates one step at a time with units, and checks the result by calculating backwards. The result is correct.",
      "Step by step for {subject}: first the parts, then the total, then a check that this is what the question asks for.",
    ],
    wrong: [
      "For {subject}: this answer combines the numbers in the order in which they appear, although one of them is not needed.",
      "Step by step for {subject}: the first step is right, but the second one forgets an amount that was already subtracted.",
    ],
  },
  "arc-challenge": {
    name: "a science question",
    right: [
      "About {subject}: there is one cause, and a simple experiment shows it. This answer names the cause and describes the experiment.",
      "Why {subject}? This answer names the process from the science books and explains it in two sentences.",
    ],
    wrong: [
      "About {subject}: this answer judges by appearance, and confuses cause and effect.",
      "Why {subject}? This answer names a process that exists, but a different one is responsible.",
    ],
  },
};

const OTHER: FreeForm = { ...ANSWERS["mt-bench"]!, name: "an open question" };

/** The first words of the question, quoted in the answer. */
function subjectOf(text: string): string {
  const words = text.trim().split(/\s+/);
  const first = words.slice(0, SUBJECT_WORDS).join(" ").slice(0, 80);
  return `"${first.replaceAll('"', "'")}${words.length > SUBJECT_WORDS ? " ..." : ""}"`;
}

const SUBJECT_WORDS = 8;
