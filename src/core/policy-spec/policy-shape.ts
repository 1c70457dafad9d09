/** Checks policies in files of the user, which no compiler has checked. */
import type { Policy, PolicyKind } from "../bandit/policy.ts";
import { InputError } from "../input/input-error.ts";

/** Returns the value if it is a PolicyKind; otherwise throws an InputError that says what is missing. */
export function checkKind(file: string, value: unknown): PolicyKind {
  const found: Record<string, unknown> = isRecord(value) ? value : {};
  const { name, summary, defaults, about, create } = found;
  const wrong = [
    typeof name === "string" && name !== "" ? "" : 'name ("my-policy")',
    typeof summary === "string" ? "" : 'summary ("what it does, in one line")',
    isRecord(defaults) && Object.values(defaults).every(isOption)
      ? ""
      : "defaults ({} or options that are numbers, strings or booleans)",
    about === undefined || (isRecord(about) && Object.values(about).every(isRecord))
      ? ""
      : "about (left out, or { meaning, min, max .. } for each option)",
    typeof create === "function" ? "" : "create (a function of the pool that makes a policy)",
  ].filter(Boolean);
  if (wrong.length === 0) return value as PolicyKind;
  const problem = isRecord(value)
    ? `its default export lacks ${wrong.join(", ")}`
    : "has no default export that is a PolicyKind";
  throw new InputError(
    { file },
    problem,
    "export default { name, summary, defaults, create } as examples/mine.ts does",
  );
}

/** Checks the policy that `create` returned; an InputError names the missing methods. */
export function checkPolicy(name: string, policy: Policy): void {
  const methods = ["choose", "learn", "snapshot", "restore"] as const;
  const found: Record<string, unknown> = isRecord(policy) ? policy : {};
  const missing = methods.filter((method) => typeof found[method] !== "function");
  if (missing.length === 0) return;
  throw new InputError(
    { file: `--policies ${name}` },
    `create returns no policy: ${missing.join(", ")} missing`,
    "return { choose, learn, snapshot, restore } as examples/mine.ts does",
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOption(value: unknown): boolean {
  return ["number", "string", "boolean"].includes(typeof value);
}
