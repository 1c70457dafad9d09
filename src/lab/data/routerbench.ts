import { z } from "zod";
import { format, TEXT } from "./format.ts";

/**
 * RouterBench's released table: `sample_id`, `prompt`, `eval_name` and, for each model M, its
 * score `M`, its answer `M|model_response` and its cost `M|total_cost` in USD. The category is
 * the benchmark, without the subject of MMLU and of MT-Bench. Rows without a score or cost of
 * some model are left out.
 */
export const routerbench = format(
  (record) => "sample_id" in record && "eval_name" in record,
  z.looseObject({ sample_id: TEXT, prompt: z.union([TEXT, z.array(TEXT)]), eval_name: TEXT }),
  'a row is {"sample_id": "mbpp.dev.1", "prompt": "..", "eval_name": "mbpp", "gpt-4": 1, "gpt-4|total_cost": 0.001}, scores within 0..1, costs not below 0',
  ({ sample_id, prompt, eval_name, ...columns }, _, fail) => {
    const cells: Readonly<Record<string, unknown>> = columns;
    const models = Object.keys(cells).filter((name) => `${name}|total_cost` in cells);
    if (models.length === 0) throw fail("M|total_cost", "is missing for every model M");
    const read = (suffix: string, most: number) =>
      Object.fromEntries(
        models.map((model) => {
          const field = `${model}${suffix}`;
          const value = numberIn(cells[field]);
          if (value !== undefined && !(value >= 0 && value <= most)) {
            throw fail(field, `is ${JSON.stringify(cells[field])}`);
          }
          return [model, value];
        }),
      );
    const [scores, costs] = [read("", 1), read("|total_cost", Number.MAX_VALUE)];
    if (!isComplete(scores) || !isComplete(costs)) return undefined;
    const text = [prompt].flat().map(pythonText).join("\n");
    const category = /^(mmlu|mt-?bench)\b/i.exec(eval_name)?.[1] ?? eval_name;
    return { id: sample_id, text, category, categoryField: "eval_name", scores, costs };
  },
);

/** A number of a table. csv has numbers as text; empty cells, null and NaN are undefined. */
function numberIn(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number") return number == null || number === "" ? undefined : Number.NaN;
  return Number.isNaN(number) && typeof value !== "string" ? undefined : number;
}

function isComplete(
  values: Readonly<Record<string, number | undefined>>,
): values is Readonly<Record<string, number>> {
  return Object.values(values).every((value) => value !== undefined);
}

/** The strings of a Python list such as ['a', "b"], one per line. Pandas writes lists to csv in this form. */
function pythonText(text: string): string {
  if (!/^\[(['"]).*\1\]$/s.test(text)) return text;
  const strings = [...text.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/gs)];
  return strings.map(([, single, double]) => unescaped(single ?? double!)).join("\n");
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gis,
    (_, x?: string, u?: string, U?: string, other?: string) => {
      const hex = x ?? u ?? U;
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      return ESCAPES[other!] ?? other!;
    },
  );
}
