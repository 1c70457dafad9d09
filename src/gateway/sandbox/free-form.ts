import type { Random } from "../../core/random/random.ts";

/**
 * Answers to what is none of the project's questions. Nobody here knows the
 * answer, so they are of the kind that a right or a wrong one would be, and say
 * which they stand for: a person can vote on them as on real ones.
 */
export function freeFormAnswer(
  kind: string,
  text: string,
  isRight: boolean,
  random: Random,
): string {
  const { name, right, wrong } = KINDS[kind] ?? OTHER;
  const lines = isRight ? right : wrong;
  const line = lines[random.integer(lines.length)]!.replace("{subject}", subjectOf(text));
  const quality = name.startsWith("open") ? ["weak", "good"] : ["wrong", "right"];
  return `${line}\n\n(This stands for a ${quality[Number(isRight)]} answer to ${name}.)`;
}

interface FreeForm {
  readonly name: string;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

const KINDS: Readonly<Record<string, FreeForm>> = {
  mmlu: {
    name: "a question of knowledge",
    right: [
      "On {subject}: the established view is the one you find in any good textbook of the field, and the reason for it is part of the answer. I have checked it against the usual exceptions, and none applies here.",
      "Regarding {subject}, there is one accepted answer. I name it, say why it holds, and say where people most often go wrong.",
    ],
    wrong: [
      "On {subject}: I am quite sure, though what I say mixes up two things that merely sound alike.",
      "Regarding {subject}, many people say many things. I state the most popular of them as a fact, and it is not one.",
    ],
  },
  "mt-bench": {
    name: "open writing or advice",
    right: [
      "About {subject}: I keep to what you asked for, in your tone and at your length, give two concrete suggestions that fit your case, and end with a clear recommendation.",
      "For {subject} I would start with what matters most to you, offer a version that you can use as it stands, and keep it short.",
    ],
    wrong: [
      "About {subject}: there are several aspects to consider, and each of them has advantages and disadvantages. In the end it depends.",
      "For {subject} I have written something longer than you asked for, on a somewhat different subject.",
    ],
  },
  mbpp: {
    name: "a programming task",
    right: [
      "Here is a function for {subject}. It handles the empty input and the largest one, and passes the tests that I tried:\n\n```python\ndef solve(data):\n    return checked(result_of(data))\n```",
      "For {subject}, a few lines suffice, with the edge cases covered:\n\n```python\ndef solve(data):\n    if not data:\n        return default_of(data)\n    return result_of(data)\n```",
    ],
    wrong: [
      "Here is a function for {subject}. It works for the example and fails on an empty list:\n\n```python\ndef solve(data):\n    return result_of(data[0])\n```",
      "For {subject} you can use the library function that does exactly this, although no such function exists:\n\n```python\nfrom tools import solve\n```",
    ],
  },
  hellaswag: {
    name: "how an everyday scene goes on",
    right: [
      "In the scene with {subject}, the next thing is the one that everything so far has been leading up to, and it follows in the same moment.",
      "After {subject}, what comes next uses what is already at hand and completes what was begun.",
    ],
    wrong: [
      "In the scene with {subject}, what happens next is something that must have been over long before.",
      "After {subject}, everyone goes somewhere else and does something that has nothing to do with it.",
    ],
  },
  winogrande: {
    name: "whom or what a word refers to",
    right: [
      "In {subject}, it is the one for whom the reason given makes sense; put in the other, and the sentence contradicts itself.",
      "The sentence about {subject} only works one way: I name the one that the cause applies to.",
    ],
    wrong: [
      "In {subject}, it is the one that was named last, as always.",
      "The sentence about {subject}: I name the first one, without regard to the reason given.",
    ],
  },
  gsm8k: {
    name: "a problem of school maths",
    right: [
      "For {subject}: I write down what is given, do one step at a time with the units beside it, and check the result by going backwards. It comes out even.",
      "Step by step for {subject}: first the parts, then the total, then the question again to see that this is what was asked.",
    ],
    wrong: [
      "For {subject}: I combine the numbers in the order in which they appear, and one of them was not needed.",
      "Step by step for {subject}: the first step is right, the second forgets that something had already been taken away.",
    ],
  },
  "arc-challenge": {
    name: "a question of school science",
    right: [
      "About {subject}: there is one cause, and it can be shown with a simple experiment. I name it and say what one would see.",
      "Why {subject}? Because of one process that you find in any science book, which I explain in two sentences.",
    ],
    wrong: [
      "About {subject}: it is so because it looks that way, and I take the effect for the cause.",
      "Why {subject}? I name a process that exists, but it is another one that does this.",
    ],
  },
};

const OTHER: FreeForm = { ...KINDS["mt-bench"]!, name: "an open question" };

/** The first words of what was asked, to show that it was read. */
function subjectOf(text: string): string {
  const words = text.trim().split(/\s+/);
  const first = words.slice(0, SUBJECT_WORDS).join(" ").slice(0, 80);
  return `"${first.replaceAll('"', "'")}${words.length > SUBJECT_WORDS ? " ..." : ""}"`;
}

const SUBJECT_WORDS = 8;
