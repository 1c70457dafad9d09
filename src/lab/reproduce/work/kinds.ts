/** The kinds of jobs that the experiments consist of. The code of a kind is loaded when a job of it runs. */
import { moduleUrl } from "../../../core/input/project.ts";
import type { Kinds } from "../../jobs/job.ts";
import { loadPolicy, policyModule } from "../../policies/load-policy.ts";
import type {
  DescribeSpec,
  EmbedSpec,
  FitSpec,
  LinearSpec,
  ProjectSpec,
  RunSpec,
} from "./specs.ts";

const kinds: Kinds = {
  embed: {
    code: () => [moduleUrl(new URL("./embed.ts", import.meta.url))],
    run: async (spec, context) => (await import("./embed.ts")).embed(spec as EmbedSpec, context),
  },
  fit: {
    code: () => [moduleUrl(new URL("./fit.ts", import.meta.url))],
    run: async (spec, context) => (await import("./fit.ts")).fit(spec as FitSpec, context),
  },
  run: {
    code: (spec) => [
      moduleUrl(new URL("./run.ts", import.meta.url)),
      policyModule((spec as RunSpec).policy.kind),
    ],
    async run(spec, context) {
      const policy = await loadPolicy((spec as RunSpec).policy.kind);
      return (await import("./run.ts")).run(spec as RunSpec, policy, context);
    },
  },
  describe: {
    code: () => [moduleUrl(new URL("./describe.ts", import.meta.url))],
    run: async (spec, context) =>
      (await import("./describe.ts")).describe(spec as DescribeSpec, context),
  },
  project: {
    code: () => [moduleUrl(new URL("./project.ts", import.meta.url))],
    run: async (spec, context) =>
      (await import("./project.ts")).project(spec as ProjectSpec, context),
  },
  linear: {
    code: (spec) => [
      moduleUrl(new URL("./linear.ts", import.meta.url)),
      policyModule((spec as LinearSpec).policy.kind),
    ],
    async run(spec, context) {
      const policy = await loadPolicy((spec as LinearSpec).policy.kind);
      return (await import("./linear.ts")).linear(spec as LinearSpec, policy, context);
    },
  },
};

export default kinds;
