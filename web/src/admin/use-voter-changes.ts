import { joust } from "../api/client.ts";
import { useAction } from "../parts/form.tsx";
import { plural } from "../text/format.ts";

export interface VoterChanges {
  /** Says what the last change did. */
  readonly result: string | undefined;
  /** The problem of the last change. */
  readonly failure: string | undefined;
  readonly isBusy: boolean;
  /** Sets the weight of a voter; `name` is shown. Returns whether it was set. */
  weigh(voter: string, name: string, weight: number): Promise<boolean>;
  /** Returns whether the voter was forgotten. */
  forget(voter: string): Promise<boolean>;
}

/** Changes to the voters of a router. `refresh` reads the list again after each of them. */
export function useVoterChanges(router: string, refresh: () => Promise<void>): VoterChanges {
  const { result, problem: failure, isBusy, run: send } = useAction<string>();
  const run = (change: () => Promise<string>) => send(() => change().finally(refresh));
  return {
    result,
    failure,
    isBusy,
    weigh: (voter, name, weight) =>
      run(async () => {
        await joust.weighVoter(router, { voter, weight });
        return textOfWeight(name, weight);
      }),
    forget: (voter) =>
      run(async () => {
        const { forgotten } = await joust.forget(router, { voter });
        return `${voter} is forgotten: ${plural(forgotten, "vote")} ${forgotten === 1 ? "was" : "were"} erased.`;
      }),
  };
}

function textOfWeight(name: string, weight: number): string {
  if (weight === 0) return `${name} is excluded. The learner starts again without these votes.`;
  if (weight === 1) return `${name} is included. The learner starts again with these votes.`;
  return `${name} has the weight ${weight}. The learner starts again with it.`;
}
