/** The kinds of jobs that the experiments consist of. The code of a kind is loaded when a job of it runs. */
import type { PolicyKind } from "../../../core/bandit/policy.ts";
import { moduleUrl } from "../../../core/input/project.ts";
import { loadPolicy, policyModule } from "../../../core/policy-spec/load-policy.ts";
import type { Context, Kind, Kinds, Result } from "../../jobs/job.ts";
import type { RunSpec } from "./specs.ts";

const kinds: Kinds = {
  data: kind(new URL("./data.ts", import.meta.url), async () => (await import("./data.ts")).data),
  embed: kind(
    new URL("./embed.ts", import.meta.url),
    async () => (await import("./embed.ts")).embed,
  ),
  examples: kind(
    new URL("./examples.ts", import.meta.url),
    async () => (await import("./examples.ts")).examples,
  ),
  fit: kind(new URL("./fit.ts", import.meta.url), async () => (await import("./fit.ts")).fit),
  describe: kind(
    new URL("./describe.ts", import.meta.url),
    async () => (await import("./describe.ts")).describe,
  ),
  project: kind(
    new URL("./project.ts", import.meta.url),
    async () => (await import("./project.ts")).project,
  ),
  run: policyKind(new URL("./run.ts", import.meta.url), async () => (await import("./run.ts")).run),
  linear: policyKind(
    new URL("./linear.ts", import.meta.url),
    async () => (await import("./linear.ts")).linear,
  ),
};

export default kinds;

/** A kind whose result depends on one module. */
function kind<Spec>(
  module: URL,
  load: () => Promise<(spec: Spec, context: Context) => Promise<Result>>,
): Kind {
  return {
    code: () => [moduleUrl(module)],
    run: async (spec, context) => (await load())(spec as Spec, context),
  };
}

/** A kind whose result depends on one module, on the policy of the spec and on its feedback. */
function policyKind<Spec extends Pick<RunSpec, "policy" | "voteScale">>(
  module: URL,
  load: () => Promise<(spec: Spec, kind: PolicyKind, context: Context) => Promise<Result>>,
): Kind {
  return {
    code: (spec) => {
      const { kind, feedback } = (spec as Spec).policy;
      const likes = feedback === "likes" ? [moduleUrl(LIKES)] : [];
      return [moduleUrl(module), policyModule(kind), ...likes];
    },
    run: async (spec, context) => {
      const { policy, voteScale } = spec as Spec;
      const kind = await loadPolicy(policy.kind);
      const { learningFromLikes } = await import("./likes.ts");
      const learner = policy.feedback === "likes" ? learningFromLikes(kind, voteScale) : kind;
      return (await load())(spec as Spec, learner, context);
    },
  };
}

const LIKES = new URL("./likes.ts", import.meta.url);
