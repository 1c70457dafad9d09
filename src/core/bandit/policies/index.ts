/** All policies that the command line knows by name. */
import type { PolicyKind } from "../policy.ts";
import { bestFixed, oracle, random, zeroFeedback } from "./baselines.ts";
import { bestTheta } from "./best-theta.ts";
import { clusterBradleyTerry } from "./cluster-bradley-terry.ts";
import { colstim } from "./colstim.ts";
import { doubleTs } from "./double-ts.ts";
import { eagle } from "./eagle.ts";
import { fgtsCdb } from "./fgts-cdb.ts";
import { greedy } from "./greedy.ts";
import { joust } from "./joust.ts";
import { knnBradleyTerry } from "./knn-bradley-terry.ts";
import { matrixFactorization } from "./matrix-factorization.ts";
import { maxPairUcb } from "./max-pair-ucb.ts";
import { maxInP } from "./maxinp.ts";
import { metaLlm } from "./metallm.ts";
import { mixLlm } from "./mixllm.ts";
import { staticBradleyTerry } from "./static-bradley-terry.ts";
import { staticKnn } from "./static-knn.ts";
import { staticMatrixFactorization } from "./static-matrix-factorization.ts";
import { staticMlp } from "./static-mlp.ts";
import { staticRidge } from "./static-ridge.ts";
import { swBradleyTerry } from "./sw-bradley-terry.ts";
import { thompson } from "./thompson.ts";
import { vacdb } from "./vacdb.ts";

export const POLICIES: readonly PolicyKind[] = [
  joust,
  random,
  bestFixed,
  bestTheta,
  oracle,
  zeroFeedback,
  staticKnn,
  staticRidge,
  staticMlp,
  staticMatrixFactorization,
  staticBradleyTerry,
  greedy,
  thompson,
  fgtsCdb,
  maxPairUcb,
  maxInP,
  colstim,
  vacdb,
  doubleTs,
  eagle,
  matrixFactorization,
  swBradleyTerry,
  knnBradleyTerry,
  clusterBradleyTerry,
  mixLlm,
  metaLlm,
];
