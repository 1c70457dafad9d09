import type { BudgetGrant } from "./store.ts";

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
