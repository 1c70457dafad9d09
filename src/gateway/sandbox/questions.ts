import { z } from "zod";
import { readRows } from "../../core/input/rows.ts";

const TEXT = z.string().min(1);
const QUESTION = z.object({
  id: TEXT,
  category: TEXT,
  query: TEXT,
  answer: TEXT,
  wrong: z.array(TEXT).min(1),
});
/** A question of the project with a right answer and plausible wrong ones. */
export type Question = z.output<typeof QUESTION>;

/** The questions of a file, which can be found by their text. */
export class Questions {
  readonly all: readonly Question[];
  readonly #forms: readonly Form[];
  readonly #exact: ReadonlyMap<string, Question>;

  constructor(all: readonly Question[]) {
    this.all = all;
    const typed = all.flatMap((question) =>
      [question.query, withoutOptions(question.query)].map((text) => ({
        question,
        words: wordsOf(text),
      })),
    );
    this.#forms = typed.map(({ question, words }) => ({ question, bag: bagOf(words) }));
    this.#exact = new Map(typed.map(({ question, words }) => [words.join(" "), question]));
  }

  static async read(file: string): Promise<Questions> {
    const all: Question[] = [];
    const hint = 'lines are {"id","category","query","answer","wrong":[..]}';
    for await (const { row } of readRows(file, QUESTION, hint)) all.push(row);
    return new Questions(all);
  }

  /** The question whose words the text contains, exactly or almost, with or without its options. */
  find(text: string): Question | undefined {
    const words = wordsOf(text);
    const exact = this.#exact.get(words.join(" "));
    if (exact) return exact;
    const bag = bagOf(words);
    let best = NEARLY;
    let found: Question | undefined;
    for (const form of this.#forms) {
      const similarity = overlap(bag, form.bag);
      if (similarity > best) [best, found] = [similarity, form.question];
    }
    return found;
  }
}

/** Similarity above which a text counts as the question. Two questions of the set reach at most 0.5. */
const NEARLY = 0.85;

/** A way in which a question may be typed. */
interface Form {
  readonly question: Question;
  readonly bag: Bag;
}

interface Bag {
  readonly counts: ReadonlyMap<string, number>;
  readonly size: number;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

function bagOf(words: readonly string[]): Bag {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { counts, size: words.length };
}

/** Dice's coefficient of two bags of words: 1 if they are the same. */
function overlap(a: Bag, b: Bag): number {
  const larger = Math.max(a.size, b.size);
  if (larger === 0 || Math.min(a.size, b.size) / larger < 0.7) return 0; // too different in length
  let common = 0;
  for (const [word, count] of a.counts) common += Math.min(count, b.counts.get(word) ?? 0);
  return (2 * common) / (a.size + b.size);
}

function withoutOptions(query: string): string {
  return query.replace(/\n[A-D]\) .*/gs, "");
}
