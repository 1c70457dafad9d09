import { checkOptions } from "../../core/bandit/options.ts";
import { POLICIES } from "../../core/bandit/policies/index.ts";
import type { PolicyKind } from "../../core/bandit/policy.ts";
import { invalidValue } from "../../core/errors/joust-error.ts";
import { checkedAt, InputError } from "../../core/input/input-error.ts";
import { contenderOf, parsePolicies } from "../../lab/policies/policy-spec.ts";
import type { FindPolicy } from "../../learner/fold.ts";
import type { RouterConfig } from "../config/config.ts";

/** The policies that routers may have: the project's, and those of the user's own files. */
export class PolicyKinds {
  readonly #own = new Map<string, PolicyKind>();

  /** As the learner looks them up. */
  readonly find: FindPolicy = (name) => {
    const kind = this.#own.get(name) ?? POLICIES.find((known) => known.name === name);
    if (kind) return kind;
    throw invalidValue(`${name} is no policy here`, "configure the router with one that is");
  };

  /** Checks a router's policy and its options; a file is imported. Paths start from `folder`. */
  async open(router: string, { policy }: RouterConfig, folder: string): Promise<void> {
    const { name, options } = policy;
    const place = { file: "joust.yaml", field: `routers.${router}.policy` };
    const [bare, ...behind] = name.split(":");
    if (behind.length > 0) {
      const pairs = behind.map((pair) => pair.replace("=", ": ")).join(", ");
      const remedy = `write {name: ${bare}, options: {${pairs}}}`;
      throw new InputError(place, `"${name}" has options behind the name`, remedy);
    }
    const [spec] = await parsePolicies(name, folder).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
      throw new InputError(place, `"${name}" ${error.problem}`, error.hint);
    });
    const { kind } = await contenderOf(spec!);
    if (kind.needsHindsight) {
      throw new InputError(place, `${name} knows the truth, which only a simulation does`, OTHER);
    }
    const unknown = Object.keys(options).find((key) => !Object.hasOwn(kind.defaults, key));
    if (unknown !== undefined) {
      const known = Object.keys(kind.defaults).join(", ") || "none";
      throw new InputError(place, `${name} has no option ${unknown}`, `its options are ${known}`);
    }
    const all = { ...kind.defaults, ...options };
    checkedAt(place, () => checkOptions(name, all, kind.about));
    if (spec!.module) this.#own.set(name, kind);
  }
}

const OTHER = "take another one: the command policies lists them";
