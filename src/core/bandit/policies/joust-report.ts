import { blockReport } from "../block-report.ts";
import type { Policy, Report } from "../policy.ts";
import { fittedReport } from "../report.ts";
import type { ReportInput } from "../report-input.ts";
import { Joust } from "./joust.ts";

/**
 * Computes calibrated numbers about the models from all votes at once. It takes milliseconds, and
 * the result is kept until the next vote. Only `joust` keeps what a report needs.
 */
export function reportOf(policy: Policy): Report | undefined {
  if (!(policy instanceof Joust)) return undefined;
  const input = policy.reportInput();
  const known = reports.get(input);
  if (known) return known;
  const report = input.groups.isComplete
    ? fittedReport(input)
    : blockReport(input, (w) => policy.estimate(w));
  reports.set(input, report);
  return report;
}

const reports = new WeakMap<ReportInput, Report>();
