/**
 * What the paper claims, one row a claim, with the criterion that was fixed
 * before the run. Where nothing else is said a claim holds if the 95% interval
 * of the paired difference lies on its side of 0 in at least two thirds of the
 * cells it speaks of; a cell is an encoder, a weighting, a form of the queries, a
 * vote scale, a length T and a variation, as far as the claim does not fix them.
 *
 * OpenAItext stands for itself where its key is given; elsewhere the prompts of
 * each encoder that is here take its place, and the evidence says so.
 */
import type { Claim } from "../../src/reproduce/experiment.ts";
import { beyondClaims } from "./beyond.ts";
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
];
