import { session } from "../api/client.ts";
import { Panel } from "../parts/panel.tsx";
import { useValue } from "../state/observable.ts";

/** Tells a person whose key lacks the scope `metrics` which parts of the dashboard are left out, and why. */
export function WithoutNumbers() {
  const name = useValue(session)?.key?.name;
  return (
    <Panel title="This key does not show numbers by model">
      <div class="flex max-w-3xl flex-col gap-2 text-sm">
        <p>
          The leaderboard, the spending and the charts over time need the scope <code>metrics</code>
          , which the key <strong>{name}</strong> does not have. Their change after a duel would
          tell you which models answered, and your vote would no longer be blind.
        </p>
        <p>
          To see everything, sign in with a key that is not used to vote. An administrator creates
          one on the page Keys under Admin, or with{" "}
          <code>joust keys add NAME --scopes route,metrics</code>.
        </p>
      </div>
    </Panel>
  );
}
