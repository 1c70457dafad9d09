import { Command } from "commander";
import { rangeOf } from "../../core/bandit/options.ts";
import { POLICIES } from "../../core/bandit/policies/index.ts";
import type { About, OptionAbout, Options, PolicyKind } from "../../core/bandit/policy.ts";
import { ROUTER_ABOUT, ROUTER_DEFAULTS } from "../../core/router.ts";
import { contenderOf, parsePolicies } from "../../lab/policies/policy-spec.ts";
import { JOUST } from "../shared/invocation.ts";

export function policiesCommand(): Command {
  return new Command("policies")
    .description("Every policy that --policies knows, with its options: default, meaning, values.")
    .argument("[name]", "this policy alone: a name, or a file of your own")
    .option("--json", "print them as JSON")
    .helpOption("-h, --help", "this text")
    .addHelpText(
      "after",
      `\nExamples:\n  ${JOUST} policies fgts-cdb\n  ${JOUST} simulate DATA --policies joust,fgts-cdb:steps=10:sd=2\n`,
    )
    .action(async (name: string | undefined, { json }: { json?: boolean }) => {
      const policies = name === undefined ? POLICIES : [await kindCalled(name)];
      process.stdout.write(json ? `${JSON.stringify(asData(policies))}\n` : listing(policies));
    });
}

const ROUTER = "Options of every policy, for what the router does around it:";

async function kindCalled(name: string): Promise<PolicyKind> {
  const [spec] = await parsePolicies(name, process.cwd());
  return (await contenderOf(spec!)).kind;
}

function asData(policies: readonly PolicyKind[]) {
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

function listing(policies: readonly PolicyKind[]): string {
  const router = [ROUTER, ...lines(described(ROUTER_DEFAULTS, ROUTER_ABOUT))];
  return [...policies.map(paragraph), router].map((part) => `${part.join("\n")}\n`).join("\n");
}

function paragraph({ name, summary, source, defaults, about }: PolicyKind): string[] {
  const after = source === undefined ? [] : wrap(`after ${source}`, WIDTH - 2);
  return [
    `${name}: ${summary}`,
    ...after.map((line) => `  ${line}`),
    ...lines(described(defaults, about)),
  ];
}

/** `key=default`, and beside it what it means and may be. */
function lines(options: Record<string, Described>): string[] {
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

/** Lines of at most `width` characters, broken between words. */
function wrap(text: string, width: number): string[] {
  const out = [""];
  for (const word of text.split(" ")) {
    const line = out.at(-1)!;
    if (line === "") out[out.length - 1] = word;
    else if (line.length + 1 + word.length <= width) out[out.length - 1] = `${line} ${word}`;
    else out.push(word);
  }
  return out;
}
