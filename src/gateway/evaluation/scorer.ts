import { z } from "zod";
import { invalidValue, messageOf } from "../../core/errors/joust-error.ts";
import type { Match } from "./match.ts";
import { type EvaluationPrompt, hashOf } from "./prompt.ts";
import { runTest, type TestCommand } from "./test-command.ts";

/** How answers are scored. A prompt without a setting of its own uses the one for all prompts. */
export interface ScoreSettings {
  readonly match: Match;
  readonly test?: TestCommand | undefined;
  readonly regex?: string | undefined;
  readonly schema?: object | undefined;
}

/** Scores the answers to one prompt. */
export interface Scorer {
  /**
   * Hash of the rule: a score in the journal is valid as long as its rule is the same. Undefined for a test command,
   * which may change without its name, so that every run tests again.
   */
  readonly rule: string | undefined;
  /** 1 for a right answer and 0 for a wrong one. */
  score(answer: string): boolean | Promise<boolean>;
}

/**
 * The scorer of a prompt: the test command, else its own or the common regular expression or
 * schema, else its reference answers. Undefined if there is none of these.
 */
export function scorerOf(prompt: EvaluationPrompt, settings: ScoreSettings): Scorer | undefined {
  const { test, match } = settings;
  if (test) return { rule: undefined, score: (answer) => runTest(test, prompt, answer) };
  const regex = prompt.regex ?? settings.regex;
  if (regex !== undefined) {
    const compiled = compile(regex);
    return { rule: hashOf("regex", regex), score: (answer) => compiled.test(answer) };
  }
  const schema = prompt.schema ?? settings.schema;
  if (schema) {
    const parser = parserOf(schema);
    const rule = hashOf("schema", JSON.stringify(schema));
    return { rule, score: (answer) => parser.safeParse(jsonIn(answer)).success };
  }
  const { answers } = prompt;
  if (!answers || answers.length === 0) return undefined;
  return {
    rule: hashOf(AGREEMENT, match, ...answers),
    score: (answer) => answers.some((reference) => agrees(answer, reference, match)),
  };
}

function compile(regex: string): RegExp {
  try {
    return new RegExp(regex, "mu");
  } catch (error) {
    throw invalidValue(
      `the regular expression ${regex} is invalid: ${messageOf(error)}`,
      "write it as JavaScript does, without slashes around it",
    );
  }
}

function parserOf(schema: object): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw invalidValue(
      `the JSON schema cannot be used: ${messageOf(error)}`,
      "write a schema of draft 2020-12, draft 7 or draft 4",
    );
  }
}

/** The JSON of an answer, which may stand in a fenced block; undefined if there is none. */
function jsonIn(answer: string): unknown {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(answer)?.[1];
  try {
    return JSON.parse(fenced ?? answer);
  } catch {
    return undefined;
  }
}

/** Name of the rule below in the journal. A new name makes it score the answers in old journals again. */
const AGREEMENT = "answer 2";

/**
 * Whether an answer agrees with a reference, apart from case, white space and the commas within
 * numbers. "contains": the reference stands in the answer as whole words. "exact": it is the
 * answer. "last": the last number or word of the answer is the reference.
 */
function agrees(answer: string, reference: string, match: Match): boolean {
  const [given, wanted] = [plain(answer), plain(reference)];
  if (match === "exact") return given === wanted;
  if (match === "last") {
    const words = given.match(/-?\d+(\.\d+)?|[\p{L}\p{N}]+/gu) ?? [];
    return words.at(-1) === wanted;
  }
  for (let at = given.indexOf(wanted); at >= 0; at = given.indexOf(wanted, at + 1)) {
    const isWhole = (before: string, after: string) =>
      !(/[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(after));
    const [before, after] = [given.slice(0, at), given.slice(at + wanted.length)];
    const isPart = /^\d/.test(wanted) && PART_OF_NUMBER.test(before);
    if (isWhole(before, wanted) && isWhole(wanted, after) && !isPart && !/^[.]\d/.test(after)) {
      return true;
    }
  }
  return false;
}

/** The beginning of a number, up to its point or its sign. The dash of a range is no sign. */
const PART_OF_NUMBER = /(?:\d\.|(?:^|[^\p{L}\p{N}])[-−])$/u;

function plain(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/(?<=\d),(?=\d{3}\b)/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
