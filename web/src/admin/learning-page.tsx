import { useState } from "preact/hooks";
import { joust } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { CheckField, TextField } from "../parts/field.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { plural } from "../text/format.ts";
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
  const [result, setResult] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [isRunning, setIsRunning] = useState(false);
  const settings = configuration.effective.routers[router] as { weigh_voters?: boolean };
  const run = async (work: () => Promise<string>) => {
    setIsRunning(true);
    setProblem(undefined);
    setResult(undefined);
    await work().then(setResult, (error: Error) => setProblem(error.message));
    setIsRunning(false);
  };
  const weigh = (isChecked: boolean) => {
    const value = { ...configuration.document.routers[router], weigh_voters: isChecked };
    change([{ section: "routers", name: router, value }]);
  };
  return (
    <Panel title={router}>
      <CheckField
        label="Weigh votes by how often the voter agreed with the router"
        isChecked={settings.weigh_voters === true}
        disabled={!isEditable || isBusy}
        onChange={weigh}
      />
      <div class="flex flex-wrap gap-2">
        <Button
          disabled={isRunning}
          onClick={() =>
            run(() =>
              joust.freeze(router).then(() => "Learning is frozen. Votes are still logged."),
            )
          }
        >
          Freeze learning
        </Button>
        <Button
          disabled={isRunning}
          onClick={() =>
            run(() =>
              joust.thaw(router).then(() => "Learning continues, with the votes in between."),
            )
          }
        >
          Thaw
        </Button>
      </div>
      <form
        class="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (time === "") return;
          const to = new Date(time).toISOString();
          run(async () => {
            const { undone } = await joust.rollBack(router, { to });
            return `${plural(undone, "vote")} ${undone === 1 ? "was" : "were"} undone.`;
          });
        }}
      >
        <TextField
          label="Undo what was learned after"
          type="datetime-local"
          value={time}
          onChange={setTime}
          about="The votes stay in the log, but never count again."
        />
        <Button type="submit" class="self-start" disabled={isRunning || time === ""}>
          Roll back
        </Button>
      </form>
      <p role="status" class="text-sm text-good empty:hidden">
        {result}
      </p>
      <Problem text={problem} />
    </Panel>
  );
}
