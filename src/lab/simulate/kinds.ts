/** The kind of job that a simulation consists of. */
import { moduleUrl } from "../../core/input/project.ts";
import { importPolicy, loadPolicy, policyModule } from "../../core/policy-spec/load-policy.ts";
import type { Kinds } from "../jobs/job.ts";
import type { RunSpec, SharedData } from "./run-job.ts";

/** The module that all runs share. A change of its code, or of code that it imports, changes the key of every run. */
export const RUN_MODULE = moduleUrl(new URL("./run-job.ts", import.meta.url));

const kinds: Kinds = {
  run: {
    code: (spec) => {
      const { kind, code } = (spec as RunSpec).policy;
      return code === undefined ? [RUN_MODULE, policyModule(kind)] : [RUN_MODULE];
    },
    async run(spec, context) {
      const { kind: name, code, ...rest } = (spec as RunSpec).policy;
      const { modules } = context.shared as SharedData;
      const kind = await (code === undefined
        ? loadPolicy(name)
        : importPolicy(modules[code]!, name));
      const { runJob } = await import("./run-job.ts");
      return runJob(spec as RunSpec, { kind, ...rest }, context);
    },
  },
};

export default kinds;
