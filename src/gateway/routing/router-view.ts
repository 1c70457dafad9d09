import type { Pool } from "../../core/bandit/policy.ts";
import type { Router } from "../../core/router.ts";
import type { RouterConfig } from "../config/config.ts";
import type { ServedModel } from "../providers/served-model.ts";

/** State of a router at one moment. A decision is made with one view. */
export interface RouterView {
  readonly name: string;
  readonly config: RouterConfig;
  readonly router: Router;
  /** Version of the posterior: position in the log of the last event it has learned from. */
  readonly version: number;
  /** Name of the encoder in the log. */
  readonly encoder: string;
  readonly pool: Pool;
  /** The pool's models in its order; undefined for a model that this node does not serve. */
  readonly models: readonly (ServedModel | undefined)[];
  /** Shares of the categories in an embedding. */
  readonly membership: (x: Float64Array) => Float64Array;
  /** Cost in US dollars that the router counts as 1. */
  readonly costUnit: number;
  /** The model that is served while the guard is on. */
  readonly guard?: string | undefined;
}
