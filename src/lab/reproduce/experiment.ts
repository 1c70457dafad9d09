/**
 * Glossary
 *
 * experiment  one of the paper's: which jobs it needs, and what is shown of their results
 * curve       one line of a figure: an encoder, a weighting, a policy, in one world, over several runs
 * world       a form of the queries, a vote scale, and whatever else is varied
 * exhibit     a figure or a table of the report
 * claim       a sentence of the paper, with a criterion fixed before the run
 */

import type { JobId } from "../jobs/job.ts";
import type { PointsPicture } from "../report/points.ts";
import type { Table } from "../report/table.ts";
import type { Bench } from "./bench.ts";
import type { Results } from "./results.ts";
import type { JudgedCell } from "./verdict.ts";

export interface Experiment {
  /** As on the command line. */
  readonly name: string;
  readonly title: string;
  /** Plans its jobs and says what they will show; nothing but a note where its data is not there. */
  plan(bench: Bench): Promise<Planned>;
}

export interface Planned {
  /** On what data, how it was made, and what was left out: paragraphs for the report. */
  readonly notes: readonly string[];
  /** What the data is, where it is not the paper's. */
  readonly standIn?: string | undefined;
  readonly exhibits: readonly Exhibit[];
}

/** exp: fine-tuned, ctrl: as it was, ideal: fine-tuned with what the others may not know. */
export type Group = "exp" | "ctrl" | "ideal" | "prompt" | "baseline";

export interface Curve {
  readonly experiment: string;
  /** As in the paper: MiniLM_E4_Excel_perf_cost_exp. */
  readonly name: string;
  readonly encoder: string;
  readonly epochs: number;
  readonly group: Group;
  /** perf, perf_cost, excel_perf_cost, excel_mask, labels, means, or none. */
  readonly weighting: string;
  /** Queries in a prompt; 0 where there is none. */
  readonly examples: number;
  readonly policy: string;
  /** Of the queries: rbprompt, natural, 8% dropped, .. */
  readonly form: string;
  readonly voteScale: number;
  /** What else differs from the experiment's main curves; "" for those. */
  readonly variant: string;
  /** Run r's job. */
  readonly runs: readonly JobId[];
}

export interface Exhibit {
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  /** What can be done with it on a screen. */
  readonly hint?: string;
  /** Nothing of the experiment's queries is in it, so that nothing stands in for them. */
  readonly withoutQueries?: boolean | undefined;
  draw(results: Results): Drawing;
}

export type Drawing =
  | { readonly kind: "figure"; readonly svg: string; readonly points?: PointsPicture | undefined }
  | { readonly kind: "table"; readonly table: Table };

type Verdict = "holds" | "does not hold" | "cannot be tested here";

export interface Claim {
  readonly id: number;
  /** Where in the paper. */
  readonly place: string;
  readonly statement: string;
  /** Which experiments it needs. */
  readonly needs: readonly string[];
  /** In words, fixed before the run. */
  readonly criterion: string;
  test(results: Results): Finding;
  /** By its id, the exhibit that shows it best. */
  readonly exhibit?: RegExp | undefined;
  /** Of the claims that the paper is read for. */
  readonly headline?: Headline | undefined;
}

/** A claim in few words, with the curves that it compares in one typical world. */
export interface Headline {
  readonly says: string;
  show(results: Results): {
    readonly world: string;
    readonly lines: readonly HeadlineLine[];
    /** The baselines there. */
    readonly beside: readonly HeadlineLine[];
  };
}

/** A curve with the regret of each run: at each vote scale, or whatever the world names. */
export interface HeadlineLine {
  readonly name: string;
  readonly regrets: readonly (readonly number[] | undefined)[];
}

export interface Finding {
  readonly verdict: Verdict;
  /** It does not hold, and the opposite does; otherwise it is merely not shown. */
  readonly refuted?: boolean;
  /** The numbers in short, or why there are none. */
  readonly evidence: string;
  readonly cells: readonly JudgedCell[];
  /** What of the paper's something else stands in for: OpenAItext, MixInstruct. */
  readonly standIns?: readonly string[];
}

/** What the command line runs: see experiments/. */
export interface Suite {
  readonly experiments: readonly Experiment[];
  readonly claims: readonly Claim[];
}
