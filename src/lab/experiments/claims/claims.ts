/**
 * The paper's claims with criteria that were fixed before the run. If nothing else is said, a
 * claim holds if the 95% interval of the paired difference lies on its side of 0 in at least
 * two thirds of its cells. A cell is an encoder, a weighting, a form of the queries, a vote
 * scale, a length T and a way to append the metadata, as far as the claim does not fix them.
 * Intervals are Student's over the runs, which are paired: run r of all curves has the same
 * offline queries, stream and voters.
 *
 * If one of the paper's encoders is available and can be fine-tuned, the paper's encoders
 * decide; the results of the program's own word vectors are in the tables. Otherwise these
 * stand in, and the evidence says so. Without the key of OpenAItext, the prompts of each
 * available encoder take its place.
 */
import { PAPER_ENCODERS } from "../../reproduce/encoders.ts";
import type { Claim } from "../../reproduce/experiment.ts";
import { type ClaimDraft, withNote } from "./cells.ts";
import { generalClaims } from "./general.ts";
import { mixinstructClaims } from "./mixinstruct.ts";
import { mmluClaims } from "./mmlu.ts";
import { routerbenchClaims } from "./routerbench.ts";
import { unseenClaims } from "./unseen.ts";

export const claims: readonly Claim[] = [
  ...complete("mmlu", mmluClaims),
  ...complete("routerbench", routerbenchClaims),
  ...complete("unseen", unseenClaims),
  ...complete("mixinstruct", mixinstructClaims),
  ...complete("routerbench", generalClaims),
];

function complete(experiment: string, drafts: readonly ClaimDraft[]): Claim[] {
  return drafts.map((draft) => ({
    needs: [experiment],
    ...draft,
    test: judgedByPaperEncoders(draft.test),
  }));
}

function judgedByPaperEncoders(test: Claim["test"]): Claim["test"] {
  return (results) => {
    const own = results.encoders.filter(({ name }) => PAPER_ENCODERS.includes(name));
    const byPaper = () => test(results.of(PAPER_ENCODERS));
    if (own.some(({ epochs }) => epochs.length > 0)) return byPaper();
    const finding = test(results);
    // Some claims are about no encoder, and some about none that is fine-tuned.
    if (byPaper().cells.length === finding.cells.length) return finding;
    return withNote(finding, "no encoder of the paper is here to be tuned: others in its place");
  };
}
