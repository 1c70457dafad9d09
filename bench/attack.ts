import { ACCESS_ATTACKS } from "./attack/access.ts";
import { ANSWER_ATTACKS } from "./attack/answers.ts";
import type { Attack } from "./attack/attack.ts";
import { BODY_ATTACKS } from "./attack/bodies.ts";
import { BUDGET_ATTACKS } from "./attack/budgets.ts";
import { CONNECTION_ATTACKS } from "./attack/connections.ts";
import { DISK_ATTACKS } from "./attack/disk.ts";
import { KEY_LIMIT_ATTACKS } from "./attack/key-limits.ts";
import { KEY_ATTACKS } from "./attack/keys.ts";
import { UPSTREAM_ATTACKS } from "./attack/upstreams.ts";
import { VOTE_ATTACKS } from "./attack/votes.ts";
import type { BenchResult } from "./bench.ts";

const ATTACKS: readonly Attack[] = [
  ...CONNECTION_ATTACKS,
  ...BODY_ATTACKS,
  ...DISK_ATTACKS,
  ...BUDGET_ATTACKS,
  ...VOTE_ATTACKS,
  ...UPSTREAM_ATTACKS,
  ...ACCESS_ATTACKS,
  ...KEY_ATTACKS,
  ...KEY_LIMIT_ATTACKS,
  ...ANSWER_ATTACKS,
];

/**
 * Attacks a real gateway process in every known way, or in those whose numbers are given, and
 * prints a table. No attack may succeed.
 */
export async function attack(items: readonly string[]): Promise<BenchResult> {
  const numberOf = ({ item }: Attack) => Number.parseInt(item, 10);
  const chosen = ATTACKS.filter(
    ({ item }) => items.length === 0 || items.includes(item) || items.includes(item.slice(0, 2)),
  ).toSorted((a, b) => numberOf(a) - numberOf(b) || a.item.localeCompare(b.item));
  process.stdout.write("| | attack | before | now | held |\n|---|---|---|---|---|\n");
  let succeeded = 0;
  for (const { item, attack: name, before, run } of chosen) {
    const { now, held } = await run().catch((error: unknown) => ({
      now: `the attack could not be made: ${error}`,
      held: false,
    }));
    if (!held) succeeded++;
    process.stdout.write(
      `| ${item} | ${name} | ${before} | ${now} | ${held ? "yes" : "**no**"} |\n`,
    );
  }
  return {
    ratios: { "attacks that succeeded": succeeded },
    figures: { attacks: chosen.length },
  };
}
