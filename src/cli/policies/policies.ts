import { Help } from "commander";
import { rangeOf } from "../../core/bandit/options.ts";
import { POLICIES } from "../../core/bandit/policies/index.ts";
import type { About, OptionAbout, Options, PolicyKind } from "../../core/bandit/policy.ts";
import { InputError } from "../../core/input/input-error.ts";
import { contenderOf, parsePolicies } from "../../core/policy-spec/policy-spec.ts";
import { ROUTER_ABOUT, ROUTER_DEFAULTS } from "../../core/router.ts";

/** The policies with names or files, separated by commas, or all policies of the project. */
export async function findPolicies(name: string | undefined): Promise<readonly PolicyKind[]> {
  if (name === undefined) return POLICIES;
  const specs = await parsePolicies(name, process.cwd()).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    throw new InputError({ file: name }, error.problem, error.hint);
  });
  return Promise.all(specs.map(async (spec) => (await contenderOf(spec)).kind));
}

export function policiesRecord(policies: readonly PolicyKind[]) {
  return {
    policies: policies.map(({ name, summary, source, defaults, about }) => {
      return { name, summary, source, options: described(defaults, about) };
    }),
    router: described(ROUTER_DEFAULTS, ROUTER_ABOUT),
  };
}

type Described = OptionAbout & { readonly default: Options[string] };

function described(defaults: Options, about: About<Options> = {}): Record<string, Described> {
  return Object.fromEntries(
    Object.entries(defaults).map(([key, value]) => [
      key,
      { default: value, ...(about[key] ?? { meaning: "" }) },
    ]),
  );
}

export function policiesText(policies: readonly PolicyKind[]): string {
  const router = [
    "Options of every policy, which the router handles:",
    ...optionLines(described(ROUTER_DEFAULTS, ROUTER_ABOUT)),
  ];
  return [...policies.map(paragraph), router].map((part) => `${part.join("\n")}\n`).join("\n");
}

function paragraph({ name, summary, source, defaults, about }: PolicyKind): string[] {
  const from = source === undefined ? [] : wrap(`after ${source}`, WIDTH - 2);
  return [
    `${name}: ${summary}`,
    ...from.map((line) => `  ${line}`),
    ...optionLines(described(defaults, about)),
  ];
}

/** `key=default` in one column, meaning and range in the next. */
function optionLines(options: Record<string, Described>): string[] {
  const heads = Object.entries(options).map(([key, option]) => `  ${key}=${option.default}  `);
  const column = Math.max(...heads.map((head) => head.length));
  return Object.values(options).flatMap((option, n) => {
    const range = rangeOf(option);
    const text = range === "" ? option.meaning : `${option.meaning} (${range})`;
    return wrap(text, WIDTH - column).map((line, i) => {
      return `${(i === 0 ? heads[n]! : "").padEnd(column)}${line}`;
    });
  });
}

const WIDTH = 96;

/** Breaks a text between words into lines of at most `width` characters. */
function wrap(text: string, width: number): string[] {
  return new Help().boxWrap(text, width).split("\n");
}
