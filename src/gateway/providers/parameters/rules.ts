import type { Adaptation } from "../upstream/upstream.ts";

/** Rules about the members of a request that a model refuses. All are optional. Members that the model accepts have no rule. */
export interface ParameterRules {
  /** Members that the model knows by another name. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Members to leave out; `text.verbosity` is a member of a member. */
  readonly drop?: readonly string[];
  /** Members of which the model accepts one value only, so that any other is left out. */
  readonly only?: Readonly<Record<string, string | number | boolean>>;
  /** Largest accepted values. */
  readonly max?: Readonly<Record<string, number>>;
  /** Longest answer in tokens, whatever the dialect calls its limit. */
  readonly maxAnswer?: number | undefined;
  /** Pairs of members that exclude each other. The second one is left out. */
  readonly either?: readonly (readonly [string, string])[];
  /** Whether the role `developer` of a message becomes `system`. */
  readonly noDeveloper?: boolean;
  /** Members of messages to leave out, such as `reasoning_content`. */
  readonly dropFromMessages?: readonly string[];
  /** Members of tools to leave out, such as `defer_loading`. */
  readonly dropFromTools?: readonly string[];
  /** Members of `cache_control` to leave out, such as `scope`. */
  readonly dropFromCache?: readonly string[];
  /** Whether schemas of tools have only members that Google's older form of schemas knows. */
  readonly plainSchemas?: boolean;
  /** Beta features to leave out of the header; `*` means all. */
  readonly dropBetas?: readonly string[];
  /** Whether the model refuses calls in the history without a signature of its own (Gemini 3). */
  readonly signsCalls?: boolean;
  /** Whether a schema is moved into the instructions if the request also has tools. */
  readonly noSchemaWithTools?: boolean;
  /** Ways to control reasoning that the model accepts; false if it does not reason. Undefined: unknown. */
  readonly reasoning?: ReasoningControls | false | undefined;
  /**
   * Whether a model that speaks Messages accepts a schema of its answer. If not, the answer becomes the
   * arguments of a tool.
   */
  readonly schemas?: boolean | undefined;
}

/** Ways to control the reasoning of a model. */
export interface ReasoningControls {
  /** Accepted efforts. */
  readonly efforts: readonly string[];
  /** Least budget in tokens, if the model accepts budgets. */
  readonly budget?: number | undefined;
}

/** Names of the limit of an answer in all dialects. */
export const ANSWER_LIMITS = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/** All of the rules. Where two disagree, the stricter or later one holds. */
export function mergeRules(all: readonly ParameterRules[]): ParameterRules {
  if (all.length === 1) return all[0]!;
  const merge = <T>(read: (rules: ParameterRules) => Readonly<Record<string, T>> | undefined) =>
    Object.fromEntries(all.flatMap((rules) => Object.entries(read(rules) ?? {})));
  const answers = all.flatMap(({ maxAnswer }) => (maxAnswer === undefined ? [] : [maxAnswer]));
  return {
    rename: merge(({ rename }) => rename),
    drop: all.flatMap(({ drop = [] }) => drop),
    only: merge(({ only }) => only),
    max: merge(({ max }) => max),
    maxAnswer: answers.length > 0 ? Math.min(...answers) : undefined,
    either: all.flatMap(({ either = [] }) => either),
    noDeveloper: all.some(({ noDeveloper }) => noDeveloper),
    dropFromMessages: all.flatMap(({ dropFromMessages = [] }) => dropFromMessages),
    dropFromTools: all.flatMap(({ dropFromTools = [] }) => dropFromTools),
    dropFromCache: all.flatMap(({ dropFromCache = [] }) => dropFromCache),
    dropBetas: all.flatMap(({ dropBetas = [] }) => dropBetas),
    plainSchemas: all.some(({ plainSchemas }) => plainSchemas),
    signsCalls: all.some(({ signsCalls }) => signsCalls),
    noSchemaWithTools: all.some(({ noSchemaWithTools }) => noSchemaWithTools),
    reasoning: all.findLast(({ reasoning }) => reasoning !== undefined)?.reasoning,
    schemas: all.findLast(({ schemas }) => schemas !== undefined)?.schemas,
  };
}

export function isEmpty({ reasoning, ...rules }: ParameterRules): boolean {
  if (reasoning !== undefined) return false;
  return Object.values(rules).every((rule: unknown) => {
    if (rule === undefined || rule === false) return true;
    return typeof rule === "object" && rule !== null && Object.keys(rule).length === 0;
  });
}

/** List of changes for the header x-joust-adapted, in the form of RFC 9651. */
export function adaptedHeader(adapted: readonly Adaptation[]): string {
  const written = (to: string | number) => (typeof to === "number" ? to : JSON.stringify(to));
  return adapted
    .map(({ param, change, to }) => {
      const name = /^[a-z*][\w.*-]*$/.test(param)
        ? param
        : JSON.stringify(param.replace(/[^ -~]/g, "?"));
      return `${name};${change}${to === undefined ? "" : `=${written(to)}`}`;
    })
    .join(", ");
}
