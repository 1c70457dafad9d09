import type { Policy, Pool } from "../policy.ts";

/** Creates a policy that does not learn. */
export function stateless(pool: Pool, choose: Policy["choose"]): Policy {
  return {
    choose,
    learn() {},
    snapshot: () => ({ models: pool.models, state: undefined }),
    restore() {},
  };
}
