/** A node's account of a key's budget, and the dollars that it wants on top. */
export interface BudgetRequest {
  readonly owner: string;
  readonly month: string;
  readonly node: string;
  /** US dollars per month. */
  readonly budget: number;
  /** Dollars that the node has spent in the month, and those that it holds and has not spent. */
  readonly spent: number;
  readonly held: number;
  readonly want: number;
  /** Time after which other nodes may take what is held. */
  readonly milliseconds: number;
}

export interface BudgetGrant {
  readonly granted: number;
  /** Dollars that all nodes have spent or hold. */
  readonly used: number;
}

/** Sums over all nodes, in US dollars of one month. */
interface BudgetSums {
  /** Dollars of leases that have not expired. */
  readonly held: number;
  /** Dollars that nodes have reported as spent. */
  readonly spent: number;
  /** Dollars of the answers in the log. A node that has crashed may have reported less. */
  readonly logged: number;
}

/** The part of `want` that the budget allows. */
export function budgetGrant(
  budget: number,
  want: number,
  { held, spent, logged }: BudgetSums,
): BudgetGrant {
  const used = Math.max(spent, logged) + held;
  const granted = Math.max(0, Math.min(want, budget - used));
  return { granted, used: used + granted };
}
