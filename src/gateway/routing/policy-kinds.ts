import { checkOptions, checkRemoved } from "../../core/bandit/options.ts";
import { POLICIES } from "../../core/bandit/policies/index.ts";
import type { PolicyKind } from "../../core/bandit/policy.ts";
import { invalidValue } from "../../core/errors/joust-error.ts";
import { checkedAt, InputError } from "../../core/input/input-error.ts";
import { contenderOf, parsePolicies } from "../../core/policy-spec/policy-spec.ts";
import type { FindPolicy } from "../../learner/fold.ts";
import type { RouterConfig } from "../config/config.ts";

/** The policies that routers can use: the project's own, and those from files of the user. */
export class PolicyKinds {
  readonly #own = new Map<string, PolicyKind>();

  /** Finds a policy by name, for the learner. */
  readonly find: FindPolicy = (name) => {
    const kind = this.#own.get(name) ?? POLICIES.find((known) => known.name === name);
    if (kind) return kind;
    throw invalidValue(`there is no policy ${name}`, "configure the router with another policy");
  };

  /** Checks a router's policy and its options, and imports it from a file relative to `folder`. */
  async open(router: string, { policy }: RouterConfig, folder: string): Promise<void> {
    const { name, options } = policy;
    const place = { file: "joust.yaml", field: `routers.${router}.policy` };
    const [bare, ...appended] = name.split(":");
    if (appended.length > 0) {
      const pairs = appended.map((pair) => pair.replace("=", ": ")).join(", ");
      const hint = `write {name: ${bare}, options: {${pairs}}}`;
      throw new InputError(place, `"${name}" has options after the name`, hint);
    }
    const [spec] = await parsePolicies(name, folder).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
      throw new InputError(place, `"${name}" ${error.problem}`, error.hint);
    });
    const { kind } = await contenderOf(spec!);
    if (kind.needsHindsight) {
      throw new InputError(
        place,
        `${name} needs the true utilities, which only a simulation has`,
        OTHER,
      );
    }
    const unknown = Object.keys(options).find((key) => !Object.hasOwn(kind.defaults, key));
    if (unknown !== undefined) {
      checkedAt(place, () => checkRemoved(kind, unknown));
      const known = Object.keys(kind.defaults).join(", ") || "none";
      throw new InputError(place, `${name} has no option ${unknown}`, `its options are ${known}`);
    }
    const all = { ...kind.defaults, ...options };
    checkedAt(place, () => checkOptions(name, all, kind.about));
    if (spec!.module) this.#own.set(name, kind);
  }
}

const OTHER = "choose another policy: the command policies lists them";
