import type { PolicyKind } from "../policy.ts";
import { CHAIN_ABOUT, CHAIN_DEFAULTS, type ChainPolicyOptions, createChains } from "./fgts-cdb.ts";

/** Thompson sampling: FGTS.CDB without the feel-good term. Both chains sample the same distribution. */
export const thompson: PolicyKind<ChainPolicyOptions> = {
  name: "thompson",
  summary: "Thompson sampling by two Langevin chains: fgts-cdb with mu = 0",
  source: "Thompson 1933; the chains are those of fgts-cdb",
  defaults: CHAIN_DEFAULTS,
  about: CHAIN_ABOUT,
  create: (pool, options) => createChains(pool, options, { mu: 0, cap: 0, exact: false }),
};
