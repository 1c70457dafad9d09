import { hintOf } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import { describeThrown } from "../policies/policy-failure.ts";
import type { PolicySpec } from "../policies/policy-spec.ts";

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
    return new InputError(
      { file: `--policies ${this.policy.name}` },
      `failed in run ${this.run}: ${describeThrown(this.cause)}`,
      `${hintOf(this.cause) ?? "mend it"}; ${kept}`,
    );
  }
}
