import { closeSync, mkdirSync, openSync, truncateSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import type { Outcome } from "../../core/bandit/policy.ts";
import { checkShape, parseRecord } from "../../core/input/rows.ts";
import { codeOf } from "../../core/input/system-error.ts";

/** The complete answer of a model, or the reply of a judge, that was paid for. */
export interface PaidAnswer {
  readonly text: string;
  readonly cost: number;
  /** Milliseconds from the request to the end of the answer. */
  readonly ms: number;
}

/** A verdict of the judge on the answers of two models, after both orders. */
export interface Compared {
  /** Time in milliseconds since 1970. */
  readonly at: number;
  /** Key of the prompt. */
  readonly prompt: string;
  readonly a: string;
  readonly b: string;
  readonly judge: string;
  readonly outcome: Outcome;
}

const OUTCOME = z.enum(["a", "b", "tie", "both_bad"]);
const SENT = z.object({ kind: z.literal("sent"), call: z.number(), most: z.number() });
const ANSWER = z.object({
  kind: z.literal("answer"),
  call: z.number(),
  key: z.string(),
  model: z.string(),
  text: z.string(),
  cost: z.number(),
  ms: z.number(),
  // Journals of older versions do not have it.
  maxTokens: z.number().optional(),
});
const FAILED = z.object({
  kind: z.literal("failed"),
  call: z.number(),
  model: z.string(),
  cost: z.number(),
  reason: z.string(),
});
const SCORE = z.object({ kind: z.literal("score"), key: z.string(), score: z.number() });
const COMPARED = z.object({
  kind: z.literal("compared"),
  at: z.number(),
  prompt: z.string(),
  a: z.string(),
  b: z.string(),
  judge: z.string(),
  outcome: OUTCOME,
});
const RECORD = z.discriminatedUnion("kind", [SENT, ANSWER, FAILED, SCORE, COMPARED]);
type JournalRecord = z.output<typeof RECORD>;

/**
 * The append-only file of an evaluation. Every call is written before it is sent and after it has
 * ended, so that an evaluation that was killed continues without paying for an answer twice. A call
 * without an end counts as paid at the most that it could cost.
 */
export class Journal {
  readonly #answers = new Map<string, PaidAnswer>();
  readonly #sums = new Map<string, { count: number; cost: number; ms: number }>();
  readonly #scores = new Map<string, number>();
  readonly #compared: Compared[] = [];
  readonly #limits = new Set<number>();
  readonly #unfinished = new Map<number, number>();
  #calls = 0;
  #ended = 0;
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  static async open(path: string): Promise<Journal> {
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return "";
      throw error;
    });
    // A kill may leave the beginning of a line, which is removed.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
    // The folder will contain prompts, and the file answers too, so only their owner may read them.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const journal = new Journal(openSync(path, "a", 0o600));
    whole.split("\n").forEach((line, i) => {
      if (line === "") return;
      const record = parseRecord(path, { number: i + 1, text: line });
      journal.#take(checkShape({ file: path, line: i + 1 }, record, RECORD, HINT));
    });
    return journal;
  }

  /** Dollars that were spent, including the most that calls without an end could cost. */
  get spent(): number {
    return [...this.#unfinished.values()].reduce((sum, most) => sum + most, this.#ended);
  }

  get compared(): readonly Compared[] {
    return this.#compared;
  }

  answer(key: string): PaidAnswer | undefined {
    return this.#answers.get(key);
  }

  /** Mean cost and duration of the answers of a model, if it has given some. */
  usual(model: string): Pick<PaidAnswer, "cost" | "ms"> | undefined {
    const sum = this.#sums.get(model);
    return sum && { cost: sum.cost / sum.count, ms: sum.ms / sum.count };
  }

  /** The limits of tokens with which answers were asked. */
  get limits(): ReadonlySet<number> {
    return this.#limits;
  }

  score(key: string): number | undefined {
    return this.#scores.get(key);
  }

  /** Records that a call is about to be sent. Returns the number of the call. */
  sent(most: number): number {
    const call = this.#calls + 1;
    this.#append({ kind: "sent", call, most });
    return call;
  }

  answered(
    call: number,
    key: string,
    model: string,
    { text, cost, ms }: PaidAnswer,
    maxTokens: number,
  ): void {
    this.#append({ kind: "answer", call, key, model, text, cost, ms, maxTokens });
  }

  failed(call: number, model: string, cost: number, reason: string): void {
    this.#append({ kind: "failed", call, model, cost, reason });
  }

  scored(key: string, score: number): void {
    this.#append({ kind: "score", key, score });
  }

  comparison(compared: Compared): void {
    this.#append({ kind: "compared", ...compared });
  }

  close(): void {
    closeSync(this.#file);
  }

  #append(record: JournalRecord): void {
    writeSync(this.#file, `${JSON.stringify(record)}\n`);
    this.#take(record);
  }

  #take(record: JournalRecord): void {
    switch (record.kind) {
      case "sent":
        this.#calls = Math.max(this.#calls, record.call);
        this.#unfinished.set(record.call, record.most);
        break;
      case "answer": {
        const { text, cost, ms } = record;
        this.#answers.set(record.key, { text, cost, ms });
        if (record.maxTokens !== undefined) this.#limits.add(record.maxTokens);
        const sum = this.#sums.get(record.model) ?? { count: 0, cost: 0, ms: 0 };
        const { count } = sum;
        this.#sums.set(record.model, { count: count + 1, cost: sum.cost + cost, ms: sum.ms + ms });
        this.#end(record.call, cost);
        break;
      }
      case "failed":
        this.#end(record.call, record.cost);
        break;
      case "score":
        this.#scores.set(record.key, record.score);
        break;
      case "compared": {
        const { kind: _, ...compared } = record;
        this.#compared.push(compared);
      }
    }
  }

  #end(call: number, cost: number): void {
    this.#unfinished.delete(call);
    this.#ended += cost;
  }
}

const HINT = "the file was changed by another program: evaluate into another folder with --out DIR";
