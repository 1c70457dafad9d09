/**
 * What the paper claims, one row a claim, with the criterion that was fixed
 * before the run. Where nothing else is said a claim holds if the 95% interval
 * of the paired difference lies on its side of 0 in at least two thirds of the
 * cells it speaks of; a cell is an encoder, a weighting, a form of the queries, a
 * vote scale, a length T and a way to append the metadata, as far as the claim
 * does not fix them. Student's t over the runs, which are paired: run r of all
 * curves has the same offline queries, stream and voters.
 *
 * The paper's encoders decide where one of them is here that can be tuned; what
 * the program's own word vectors do is in the tables. Without any they stand in,
 * and the evidence says so. OpenAItext stands for itself where its key is given;
 * elsewhere the prompts of each encoder that is here take its place.
 */
import { PAPER_ENCODERS } from "../../reproduce/encoders.ts";
import type { Claim } from "../../reproduce/experiment.ts";
import { beyondClaims } from "./beyond.ts";
import { withNote } from "./cells.ts";
import { exhibits } from "./exhibits.ts";
import { headlines } from "./headlines.ts";
import { mixinstructClaims } from "./mixinstruct.ts";
import { mmluClaims } from "./mmlu.ts";
import { routerbenchClaims } from "./routerbench.ts";
import { unseenClaims } from "./unseen.ts";

export const claims: readonly Claim[] = [
  ...mmluClaims,
  ...routerbenchClaims,
  ...unseenClaims,
  ...mixinstructClaims,
  ...beyondClaims,
].map(completed);

/** With its headline and exhibit, and judged by the paper's encoders where it can be. */
function completed(claim: Claim): Claim {
  return {
    ...claim,
    headline: headlines.get(claim.id),
    exhibit: exhibits.get(claim.id),
    test(results) {
      const own = results.encoders.filter(({ name }) => PAPER_ENCODERS.includes(name));
      if (own.some(({ epochs }) => epochs.length > 0))
        return claim.test(results.of(PAPER_ENCODERS));
      const finding = claim.test(results);
      // Some speak of no encoder, some of none that is tuned.
      if (claim.test(results.of(PAPER_ENCODERS)).cells.length === finding.cells.length)
        return finding;
      return withNote(
        finding,
        "no encoder of the paper's is here to be tuned: others in its place",
      );
    },
  };
}
