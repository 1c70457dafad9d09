import { useState } from "preact/hooks";
import { joust } from "../api/client.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { CheckField, TextField } from "../parts/field.tsx";
import { useAction } from "../parts/form.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { clockTime, plural } from "../text/format.ts";
import { useManaged } from "./managed.ts";
import { MetricsPanel } from "./metrics-panel.tsx";
import { VotersPanel } from "./voters-panel.tsx";

/** Voters, control of learning per router, and metrics that clients send. */
export function LearningPage() {
  const { configuration } = useManaged();
  return (
    <>
      <VotersPanel />
      {Object.keys(configuration.effective.routers).map((router) => (
        <RouterLearning key={router} router={router} />
      ))}
      <MetricsPanel />
    </>
  );
}

/** Freezes learning, rolls it back, and chooses whether voters are weighed. */
function RouterLearning({ router }: { router: string }) {
  const { configuration, isEditable, change, isBusy } = useManaged();
  const [time, setTime] = useState("");
  const { result, problem, isBusy: isRunning, run: send } = useAction<string>();
  const { data: voters, refresh } = useRead(
    () => joust.routerVoters(router, { limit: 1 }),
    [],
    5000,
  );
  const settings = configuration.effective.routers[router] as { weigh_voters?: boolean };
  const run = (work: () => Promise<string>) => send(() => work().finally(refresh));
  const weigh = (isChecked: boolean) => {
    const value = { ...configuration.document.routers[router], weigh_voters: isChecked };
    change([{ section: "routers", name: router, value }]);
  };
  const rollBack = () =>
    run(async () => {
      const { undone } = await joust.rollBack(router, { to: new Date(time).toISOString() });
      return `${plural(undone, "vote")} ${undone === 1 ? "was" : "were"} undone.`;
    });
  const isFrozen = voters?.frozen_at != null;
  return (
    <Panel
      title={`Learning of ${router}`}
      about={
        voters &&
        (isFrozen
          ? `Frozen since ${clockTime(Date.parse(voters.frozen_at!))}: votes are logged, but not learned.`
          : "Every vote is learned within seconds.")
      }
      actions={
        voters && (
          <Button
            // The button stays enabled while a change is made, because a disabled button loses the focus.
            onClick={() => {
              if (isRunning) return;
              run(() =>
                isFrozen
                  ? joust
                      .thaw(router)
                      .then(() => "Learning continues, with the votes cast during the freeze.")
                  : joust.freeze(router).then(() => "Learning is frozen. Votes are still logged."),
              );
            }}
          >
            {isFrozen ? "Continue learning" : "Freeze learning"}
          </Button>
        )
      }
    >
      <CheckField
        label="Weigh votes by how often the voter agreed with the router"
        value={settings.weigh_voters === true}
        disabled={!isEditable || isBusy}
        onChange={weigh}
      />
      <div class="flex flex-wrap items-end gap-3">
        <div class="w-72 max-w-full">
          <TextField
            label="Undo what was learned after"
            type="datetime-local"
            value={time}
            onChange={setTime}
          />
        </div>
        <ConfirmButton
          variant="plain"
          text="Roll back"
          target={router}
          isBusy={isRunning}
          disabled={time === ""}
          onConfirm={rollBack}
        />
        <p class="basis-full text-sm text-muted">
          The votes stay in the log, but never count again.
        </p>
      </div>
      <p role="status" class="text-sm text-good empty:hidden">
        {result}
      </p>
      <Problem text={problem} />
    </Panel>
  );
}
