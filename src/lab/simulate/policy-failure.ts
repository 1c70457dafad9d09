/** What to say of a policy that throws: one of the user's own is theirs to mend, the others are ours. */
import { basename } from "node:path";
import { InputError } from "../../core/input/input-error.ts";
import type { PolicySpec } from "./policy-spec.ts";

/** A run that ended in an error, which is the cause. */
export class RunFailed extends Error {
  override readonly name = "RunFailed";
  readonly policy: PolicySpec;
  readonly run: number;

  constructor(policy: PolicySpec, run: number, cause: unknown) {
    super(`${policy.name}, run ${run} failed`, { cause });
    this.policy = policy;
    this.run = run;
  }

  /** As an error that says what became of the other runs. */
  explained(kept: string): Error {
    if (!this.policy.module) return new Error(`${this.message}; ${kept}`, { cause: this.cause });
    const [thrown, help = "mend it"] = describeThrown(this.cause).split("; help: ");
    return new InputError(
      { file: `--policies ${this.policy.name}` },
      `failed in run ${this.run}: ${thrown}`,
      `${help}; ${kept}`,
    );
  }
}

/** `TypeError: no such model (at mine.ts:2:34)`: the innermost frame that is not this program's. */
export function describeThrown(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first = "", ...rest] = `${error.name}: ${error.message}`.split("; help: ");
  const frame = [...(error.stack ?? "").matchAll(FRAME)].find(([, url]) => !url!.startsWith(SRC));
  const place = frame ? ` (at ${[basename(frame[1]!), ...frame.slice(2)].join("")})` : "";
  return [`${first}${place}`, ...rest].join("; help: ");
}

const SRC = new URL("../..", import.meta.url).href;
const FRAME = /(file:\/\/[^\s()]+?)(:\d+)((?::\d+)?)(?=[\s)]|$)/g;
