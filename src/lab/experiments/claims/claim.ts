import { PAPER_ENCODERS } from "../../reproduce/encoders.ts";
import type { Claim } from "../../reproduce/experiment.ts";
import type { Results } from "../../reproduce/results.ts";
import { type Finding, judgeParts, type Part } from "../../reproduce/verdict.ts";

/** A claim as it is written down. It needs the experiment of its file, unless it says otherwise. */
export interface ClaimDraft extends Omit<Claim, "needs" | "test"> {
  readonly needs?: readonly string[];
  /** Parts of the paper that the claim is about and that may not be available. */
  readonly about?: readonly ("OpenAItext" | "e5b" | "MixInstruct")[];
  /** "some" if one part is enough. */
  readonly enough?: "some";
  /** The reason if there is nothing to compare. */
  readonly without?: string;
  parts(results: Results): readonly Part[];
  /** A remark beside the numbers. */
  note?(results: Results): string | undefined;
}

/** Claims of an experiment, each with its test. */
export function complete(experiment: string, drafts: readonly ClaimDraft[]): Claim[] {
  return drafts.map((draft) => ({
    needs: [experiment],
    ...draft,
    test: (results) => judge(draft, results),
  }));
}

function judge(draft: ClaimDraft, results: Results): Finding {
  const paper = results.of(PAPER_ENCODERS);
  const deciding = canTune(paper) ? paper : results;
  const parts = draft.parts(deciding);
  // If a claim needs no encoder, or none that is fine-tuned, other encoders add no cells and nothing stands in.
  const replaced = deciding !== paper && countCells(draft.parts(paper)) < countCells(parts);
  const notes = [
    countCells(parts) > 0 ? draft.note?.(deciding) : undefined,
    replaced
      ? "no encoder of the paper that can be fine-tuned is available, so other encoders stand in"
      : undefined,
  ];
  return judgeParts(parts, {
    enough: draft.enough,
    missing: draft.about?.filter((name) => isMissing(name, results)),
    without: draft.without ?? (canTune(results) ? undefined : "no encoder here can be fine-tuned"),
    note: notes.filter((note) => note !== undefined).join("; ") || undefined,
  });
}

function canTune({ encoders }: Results): boolean {
  return encoders.some(({ epochs }) => epochs.length > 0);
}

function countCells(parts: readonly Part[]): number {
  return parts.reduce((sum, { cells }) => sum + cells.length, 0);
}

function isMissing(name: string, { encoders, planner: { data } }: Results): boolean {
  return PAPER_ENCODERS.includes(name)
    ? !encoders.some((encoder) => encoder.name === name)
    : "standIn" in data.mixinstruct;
}
