import { plural } from "../../lab/report/words.ts";
import { VoteSchedule } from "../../learner/vote-schedule.ts";
import type { Store } from "../../store/store.ts";

/** A voter of a router, with the members that `GET /v1/admin/routers/NAME/voters` has too. */
export interface ListedVoter {
  /** Name in the log; "" stands for all votes without one. */
  readonly voter: string;
  readonly votes: number;
  readonly last_vote_at: string | null;
  readonly weight: number;
}

/** All voters of a router by name, also those that are excluded from learning. */
export async function listVoters(store: Store, router: string): Promise<ListedVoter[]> {
  const schedule = new VoteSchedule(await store.controls(router), await store.head(router));
  const listed: ListedVoter[] = [];
  let from: string | undefined = "";
  while (from !== undefined) {
    const found = await store.voters({ router, from, limit: PAGE + 1 });
    for (const { voter, votes, last } of found.slice(0, PAGE)) {
      const time = last === undefined ? null : new Date(last).toISOString();
      listed.push({ voter, votes, last_vote_at: time, weight: schedule.weightOf(voter) });
    }
    from = found[PAGE]?.voter;
  }
  return listed;
}

/** Number of voters that one query reads. */
const PAGE = 100;

export function voterLine({ voter, votes, last_vote_at: last, weight }: ListedVoter): string {
  const parts = [
    `${voter === "" ? UNNAMED : voter}: ${plural(votes, "vote")}`,
    ...(last === null ? [] : [`last vote ${last}`]),
    `weight ${weight}${weight === 0 ? " (excluded)" : ""}`,
  ];
  return `${parts.join("; ")}\n`;
}

/** Name that people see for all votes without a name, here and on the page. */
export const UNNAMED = "votes without a name";
