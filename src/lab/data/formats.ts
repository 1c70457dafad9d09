/** The formats of jsonl files. A file's format is recognised by the fields of its first record. */
import { z } from "zod";
import type { Outcome } from "../../core/bandit/policy.ts";
import { InputError } from "../../core/input/input-error.ts";
import { type Format, format, groupByText, ID, type Place, TEXT } from "./format.ts";
import { routerbench } from "./routerbench.ts";
import { idOf } from "./row.ts";

const NAME = TEXT.nullish();
const OUTCOME = z.enum(["a", "b", "tie", "both_bad"]);
const SCORES = z.record(z.string(), z.number().min(0).max(1));
/** A conversation: messages of OpenAI's API, or one string with "### Human:" and "### Assistant:" parts. */
const CONVERSATION = z.union([
  z.string(),
  z.array(
    z.object({
      role: z.string(),
      content: z.union([z.string(), z.array(z.object({ text: z.string().nullish() }))]),
    }),
  ),
]);

/** The project's own formats share these fields. RouterBench calls the category `benchmark`. */
const HEAD = { id: ID, query: TEXT, category: NAME, benchmark: NAME };

function head(
  row: { [K in keyof typeof HEAD]?: z.infer<(typeof HEAD)[K]> } & { query: string },
  { line }: Place,
) {
  return {
    id: idOf(row.id, line),
    text: row.query,
    category: row.category ?? row.benchmark ?? undefined,
    categoryField: row.category == null && row.benchmark != null ? "benchmark" : undefined,
  };
}

/** A file whose first row has no scores or comparisons has another format. */
const NOT_ON_FIRST = z.undefined("is not on the first row, so it would be ignored").optional();

/** Queries without anything about models. */
const queries = format(
  (record) => "query" in record,
  z.object({
    ...HEAD,
    scores: NOT_ON_FIRST,
    costs: NOT_ON_FIRST,
    comparisons: NOT_ON_FIRST,
  }),
  'a row is {"id": "q1", "query": "Why is the sky blue?", "category": "mmlu"}; if it has scores or comparisons, all rows have them',
  head,
);

/** Queries with the score of every model, and optionally the cost in USD. */
const outcomes = format(
  (record) => "scores" in record,
  z.object({
    ...HEAD,
    scores: SCORES,
    costs: z.record(z.string(), z.number().min(0)).nullish(),
  }),
  'a row is {"id": "q1", "query": "..", "scores": {"gpt-4": 0.9, "yi-34b": 0.4}}, scores within 0..1 (divide percentages by 100), costs not below 0',
  (row, place) => ({ ...head(row, place), scores: row.scores, costs: row.costs ?? undefined }),
);

/** LLMRouter's table of 9 models: outcomes whose category is `task`. */
const llmrouter = format(
  (record) => "scores" in record && "task" in record && !("category" in record),
  z.object({ id: ID, query: TEXT, task: TEXT, scores: SCORES }),
  'a row is {"task": "gsm8k", "query": "..", "scores": {"gpt-4": 0.9, "yi-34b": 0.4}}, scores within 0..1 (divide percentages by 100)',
  ({ id, query, task, scores }, { line }) => ({
    id: idOf(id, line),
    text: query,
    category: task,
    categoryField: "task",
    scores,
  }),
);

/** Queries with verdicts on pairs of models. */
const comparisons = format(
  (record) => "comparisons" in record,
  z.object({
    id: ID,
    query: TEXT,
    category: NAME,
    comparisons: z
      .array(
        z
          .object({ a: TEXT, b: TEXT, outcome: OUTCOME })
          .refine(({ a, b }) => a !== b, "compares a model with itself"),
      )
      .refine((list) => list.length > 0, "holds no comparison"),
  }),
  'a row is {"id": "q1", "query": "..", "comparisons": [{"a": "gpt-4", "b": "yi-34b", "outcome": "a"}]}, outcome one of a, b, tie, both_bad',
  (row, place) => ({ ...head(row, place), comparisons: row.comparisons }),
);

/** Verdicts of a judge on ordered pairs of models, all of a query in one row: cmp {"A,B": 1 | 2 | 3}. */
const pairwise = format(
  (record) => "cmp" in record,
  z.object({
    id: ID,
    category: NAME,
    query: TEXT.nullish(),
    conversation: CONVERSATION.nullish(),
    cmp: z
      .record(z.string(), z.literal([1, 2, 3]))
      .refine((cmp) => Object.keys(cmp).length > 0, "holds no comparison"),
  }),
  'a row is {"id": "q1", "query": "..", "cmp": {"gpt-4,yi-34b": 1}}: 1 the first is better, 2 the second, 3 neither; "conversation" may replace "query"',
  (row, place, fail) => {
    const text = row.query ?? lastQuestion(row.conversation ?? "");
    if (text === "") {
      throw fail(row.conversation == null ? "query" : "conversation", "holds no question");
    }
    return {
      id: idOf(row.id, place.line),
      text,
      category: row.category ?? undefined,
      comparisons: Object.entries(row.cmp).map(([key, verdict]) => {
        const [a, b] = splitPair(key, "cmp", place);
        return { a, b, outcome: ({ 1: "a", 2: "b", 3: "tie" } as const)[verdict] };
      }),
    };
  },
);

const MIXINSTRUCT_OUTCOMES: Readonly<Record<string, Outcome>> = {
  "a is better": "a",
  "b is better": "b",
  "same good": "tie",
  "same bad": "both_bad",
};

/**
 * MixInstruct's jsonl: the query is instruction + input, and the verdicts are a JSON string.
 * Rows with an empty cmp_results (all of train and dev) were never compared and are left out.
 */
const mixinstruct = format(
  (record) => "cmp_results" in record,
  z.object({
    id: ID,
    instruction: TEXT,
    input: z.string().nullish(),
    cmp_results: z.string().nullish(),
  }),
  `verdicts are {"A,B": "A is better" | "B is better" | "same good" | "same bad"}, as in MixInstruct's test split`,
  (row, place, fail) => {
    let verdicts: unknown;
    try {
      verdicts = JSON.parse(row.cmp_results || "{}");
    } catch {
      throw fail("cmp_results", "is not JSON within the string");
    }
    if (typeof verdicts !== "object" || verdicts === null) {
      throw fail("cmp_results", "is not an object within the string");
    }
    const found = Object.entries(verdicts).map(([key, verdict]) => {
      const [a, b] = splitPair(key, "cmp_results", place);
      const outcome = MIXINSTRUCT_OUTCOMES[String(verdict).trim().toLowerCase()];
      if (!outcome) throw fail(`cmp_results.${key}`, `is "${verdict}"`);
      return { a, b, outcome };
    });
    if (found.length === 0) return undefined;
    const text = row.input ? `${row.instruction}\n${row.input}` : row.instruction;
    return { id: idOf(row.id, place.line), text, comparisons: found };
  },
);

const ARENA_OUTCOMES = {
  model_a: "a",
  model_b: "b",
  tie: "tie",
  "tie (bothbad)": "both_bad",
  both_bad: "both_bad",
} as const;

/** Chatbot Arena: one vote per row. */
const arena = groupByText(
  format(
    (record) => "model_a" in record && "model_b" in record,
    z
      .object({
        id: ID,
        question_id: ID,
        prompt: TEXT.nullish(),
        conversation_a: CONVERSATION.nullish(),
        model_a: TEXT,
        model_b: TEXT,
        winner: z.enum(["model_a", "model_b", "tie", "tie (bothbad)", "both_bad"]),
      })
      .refine((row) => row.model_a !== row.model_b, {
        message: "is model_a again",
        path: ["model_b"],
      }),
    'a row is {"model_a": "gpt-4", "model_b": "yi-34b", "winner": "model_a", "prompt": ".."}; "conversation_a" may replace "prompt"',
    (row, { line }, fail) => {
      const text = row.prompt ?? lastQuestion(row.conversation_a ?? "");
      if (text === "") {
        throw fail(row.conversation_a == null ? "prompt" : "conversation_a", "holds no question");
      }
      const verdict = { a: row.model_a, b: row.model_b, outcome: ARENA_OUTCOMES[row.winner] };
      return { id: idOf(row.question_id ?? row.id, line), text, comparisons: [verdict] };
    },
  ),
);

/** Fields of a vote that are not used. They are known, so that none counts as a misspelled field. */
const UNUSED = Object.fromEntries(
  ["at", "x", "encoder", "model", "rating", "voter", "weight"].map((field) => [
    field,
    z.unknown().optional(),
  ]),
);

/**
 * The votes of a live log, as `joust votes export` prints them. A rating compares nothing, and
 * a vote whose prompt was not kept has no text: both are left out.
 */
export const votes = groupByText(
  format(
    (record) => "at" in record && ["outcome", "ranking", "rating"].some((field) => field in record),
    z
      .object({
        ...UNUSED,
        query: TEXT.optional(),
        a: TEXT.optional(),
        b: TEXT.optional(),
        outcome: OUTCOME.optional(),
        ranking: z.array(TEXT).min(2).optional(),
      })
      .refine(({ a, b, outcome }) => outcome === undefined || (a && b && a !== b), {
        message: "does not compare two different models",
        path: ["outcome"],
      }),
    'a row is {"at": "2026-11-15T12:00:00Z", "query": "..", "a": "gpt-4", "b": "yi-34b", "outcome": "a"}, outcome one of a, b, tie, both_bad',
    ({ query: text, a, b, outcome, ranking = [] }, { line }) => {
      const verdicts = outcome
        ? [{ a: a!, b: b!, outcome }]
        : ranking.flatMap((better, i) =>
            ranking.slice(i + 1).map((worse) => ({ a: better, b: worse, outcome: "a" as const })),
          );
      if (text === undefined || verdicts.length === 0) return undefined;
      return { id: idOf(undefined, line), text, comparisons: verdicts };
    },
  ),
  (file) =>
    new InputError(
      { file },
      "has no vote that compares models on a query whose text is known",
      "the log keeps texts only while joust.yaml has store: {prompts: true}",
    ),
);

/** All formats, the most specific first. A record that fits several formats is read as the first of them. */
export const FORMATS: readonly Format[] = [
  routerbench,
  mixinstruct,
  pairwise,
  comparisons,
  arena,
  votes,
  llmrouter,
  outcomes,
  queries,
];

const HUMAN = "### Human:";

/** The last message of the user; empty if there is none. */
function lastQuestion(conversation: z.infer<typeof CONVERSATION>): string {
  if (typeof conversation === "string") {
    const from = conversation.lastIndexOf(HUMAN);
    const turn = from < 0 ? conversation : conversation.slice(from + HUMAN.length);
    return turn.split("### Assistant:")[0]!.trim();
  }
  const content = conversation.findLast(({ role }) => role === "user")?.content ?? "";
  if (typeof content === "string") return content.trim();
  const parts = content.map((part) => part.text ?? "");
  return parts.join("").trim();
}

/** The two models of a key "A,B". */
function splitPair(key: string, field: string, place: Place): [string, string] {
  const [a, b, ...more] = key.split(",").map((name) => name.trim());
  if (a && b && a !== b && more.length === 0) return [a, b];
  throw new InputError(
    { ...place, field: `${field}.${key}` },
    a && a === b ? "compares a model with itself" : "does not name two models",
    'write the pair as "A,B", A and B the names of two models',
  );
}
