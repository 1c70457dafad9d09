/**
 * The paper's claims with criteria that were fixed before the run. Unless stated otherwise, a
 * claim holds if the 95% interval of the paired difference lies on its side of 0 in at least
 * two thirds of its cells. A cell is an encoder, a weighting, a form of the queries, a vote
 * scale, a length T and a way to append the metadata, as far as the claim does not fix them.
 * Intervals are Student's over the runs, which are paired: run r of all curves has the same
 * offline queries, stream and voters.
 *
 * If one of the paper's encoders is available and can be fine-tuned, the paper's encoders
 * decide; the results of the program's own word vectors are in the tables. A claim about
 * OpenAItext or MixInstruct cannot be tested without them; the finding then says what the
 * stand-in shows: each encoder's own prompts, or other comparisons.
 */
import type { Claim } from "../../reproduce/experiment.ts";
import { complete } from "./claim.ts";
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
