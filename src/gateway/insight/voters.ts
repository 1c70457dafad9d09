import type { Voter, VoterList } from "../../api/voters.ts";
import { SIGNAL } from "../../core/bandit/kind-beliefs.ts";
import { reportOf } from "../../core/bandit/policies/joust-report.ts";
import type { VoterKindEstimate } from "../../core/bandit/policy.ts";
import type { Router } from "../../core/router.ts";
import { isReservedVoter } from "../../learner/origin.ts";
import type { Control, Logged, VoterWeighed } from "../../store/events.ts";
import type { Store, StoredVoter, VotersQuery } from "../../store/store.ts";
import { bandOf } from "./numbers.ts";

/** The part of a served router that a list of its voters needs. */
interface WeighingRouter {
  readonly name: string;
  readonly view: { readonly router: Router };
}

/** A page of the voters of a router, with the weights that operators have set and the learner's estimates. */
export async function voterList(
  store: Pick<Store, "voters" | "controls">,
  { name: router, view }: WeighingRouter,
  { from, limit }: Omit<VotersQuery, "router">,
): Promise<VoterList> {
  const found = await store.voters({ router, from, limit: limit + 1 });
  const controls = await store.controls(router);
  const weighings = lastWeighings(controls);
  const page = found.slice(0, limit);
  const kinds = page.some(({ voter }) => isReservedVoter(voter)) ? kindsOf(view.router) : [];
  return {
    object: "list",
    router,
    weigh_voters: view.router.settings.weighVoters,
    frozen_at: timeOf(frozenAt(controls)),
    data: page.map((one) => voterOf(one, weighings.get(one.voter), view.router, kinds)),
    next: found[limit]?.voter ?? null,
  };
}

function voterOf(
  { voter, votes, first, last }: StoredVoter,
  weighing: VoterWeighed | undefined,
  router: Router,
  kinds: readonly VoterKindEstimate[],
): Voter {
  const kind = kindOf(voter);
  const isWeighed = kind === "person" && router.settings.weighVoters;
  const scale = kinds.find((one) => one.kind === voter)?.scale;
  return {
    voter,
    kind,
    votes,
    first_vote_at: timeOf(first),
    last_vote_at: timeOf(last),
    weight: weighing?.weight ?? 1,
    weight_set_at: timeOf(weighing?.at),
    reliability: isWeighed ? router.voters.weight(voter) : null,
    agreement: isWeighed ? (router.voters.agreement(voter) ?? null) : null,
    scale: scale ? bandOf(scale) : null,
  };
}

function kindOf(voter: string): Voter["kind"] {
  if (voter === "") return "unnamed";
  if (!isReservedVoter(voter)) return "person";
  return voter.startsWith(SIGNAL) ? "signal" : "judge";
}

function kindsOf(router: Router): readonly VoterKindEstimate[] {
  return reportOf(router.policy)?.voterKinds() ?? [];
}

function lastWeighings(controls: readonly Logged<Control>[]): ReadonlyMap<string, VoterWeighed> {
  const weighings = controls.filter((event) => event.kind === "voter_weighed");
  return new Map(weighings.map((event) => [event.voter, event]));
}

/** Time of the freeze that has not ended; undefined without one. */
function frozenAt(controls: readonly Logged<Control>[]): number | undefined {
  const last = controls.findLast(({ kind }) => kind === "frozen" || kind === "thawed");
  return last?.kind === "frozen" ? last.at : undefined;
}

function timeOf(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
