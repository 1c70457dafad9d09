/** The kinds of jobs that experiments are cut into. Each is loaded when there is one to do. */
import { moduleUrl } from "../../../core/input/project.ts";
import type { Kind } from "../../jobs/job.ts";
import type {
  DescribeSpec,
  EmbedSpec,
  FitSpec,
  LinearSpec,
  ProjectSpec,
  RunSpec,
} from "./specs.ts";

const embed: Kind = {
  module: moduleUrl(new URL("./embed.ts", import.meta.url)),
  perform: async (spec, context) => (await import("./embed.ts")).embed(spec as EmbedSpec, context),
};

const fit: Kind = {
  module: moduleUrl(new URL("./fit.ts", import.meta.url)),
  perform: async (spec, context) => (await import("./fit.ts")).fit(spec as FitSpec, context),
};

const run: Kind = {
  module: moduleUrl(new URL("./run.ts", import.meta.url)),
  perform: async (spec, context) => (await import("./run.ts")).run(spec as RunSpec, context),
};

const describe: Kind = {
  module: moduleUrl(new URL("./describe.ts", import.meta.url)),
  perform: async (spec, context) =>
    (await import("./describe.ts")).describe(spec as DescribeSpec, context),
};

const project: Kind = {
  module: moduleUrl(new URL("./project.ts", import.meta.url)),
  perform: async (spec, context) =>
    (await import("./project.ts")).project(spec as ProjectSpec, context),
};

const linear: Kind = {
  module: moduleUrl(new URL("./linear.ts", import.meta.url)),
  perform: async (spec, context) =>
    (await import("./linear.ts")).linear(spec as LinearSpec, context),
};

export default { embed, fit, run, describe, project, linear } satisfies Record<string, Kind>;
