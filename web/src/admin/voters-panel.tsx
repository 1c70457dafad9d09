import { useRef, useState } from "preact/hooks";
import type { Voter } from "../../../src/client.ts";
import { Button } from "../parts/button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { SelectField } from "../parts/field.tsx";
import { FormBox } from "../parts/form-box.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { ForgetForm } from "./forget-form.tsx";
import { useManaged } from "./managed.ts";
import { useVoterChanges } from "./use-voter-changes.ts";
import { useVoters } from "./use-voters.ts";
import { nameOf, VoterRow } from "./voter-row.tsx";
import { WeightForm } from "./weight-form.tsx";

/** The voters of a router. They can be excluded from learning, weighed and forgotten, unless the list is read-only. */
export function VotersPanel() {
  const { configuration, isEditable } = useManaged();
  const routers = Object.keys(configuration.effective.routers);
  const [wanted, setWanted] = useState<string>();
  const router = routers.find((name) => name === wanted) ?? routers[0];
  return (
    <Panel
      title="Voters"
      about={`All voters, and the learner's present estimate of each. Nothing is learned from an excluded voter; the votes stay in the log and count again when the voter is included.${isEditable ? "" : " The list is read-only: joust votes weigh sets weights, and the form below forgets a voter."}`}
    >
      {routers.length > 1 && (
        <SelectField
          label="Router"
          value={router!}
          options={routers.map((name) => ({ value: name, text: name }))}
          onChange={setWanted}
        />
      )}
      {router !== undefined && <RouterVoters key={router} router={router} />}
    </Panel>
  );
}

function RouterVoters({ router }: { router: string }) {
  const { isEditable } = useManaged();
  const { list, problem, hasPrevious, refresh, next, previous } = useVoters(router);
  const changes = useVoterChanges(router, refresh);
  const { result, failure, isBusy } = changes;
  const [edited, setEdited] = useState<Voter>();
  const status = useRef<HTMLParagraphElement>(null);
  const weigh = (one: Voter, weight: number) => changes.weigh(one.voter, nameOf(one), weight);
  const forget = async (voter: string) => {
    const isDone = await changes.forget(voter);
    // The button that had the focus is gone together with its row.
    setTimeout(() => {
      if (document.activeElement === document.body) status.current?.focus();
    });
    return isDone;
  };
  return (
    <>
      <Problem text={failure ?? problem} />
      <p ref={status} role="status" tabIndex={-1} class="text-sm text-good empty:hidden">
        {result}
      </p>
      {list?.data.length === 0 && <p class="text-sm text-muted">Nobody has voted yet.</p>}
      {list && list.data.length > 0 && (
        <DataTable label={`Voters of ${router}`} columns={COLUMNS}>
          {list.data.map((one) => (
            <VoterRow
              key={one.voter}
              value={one}
              isBusy={isBusy}
              actions={
                isEditable
                  ? {
                      weigh: (weight) => weigh(one, weight),
                      edit: () => setEdited(one),
                      forget: () => forget(one.voter),
                    }
                  : undefined
              }
            />
          ))}
        </DataTable>
      )}
      {list?.weigh_voters === false && list.data.length > 0 && (
        <p class="text-sm text-muted">
          This router does not estimate how reliable people are: every person counts fully.
        </p>
      )}
      {list && (hasPrevious || list.next !== null) && (
        <div class="flex flex-wrap gap-2">
          <Button disabled={!hasPrevious} onClick={previous}>
            Previous voters
          </Button>
          <Button disabled={list.next === null} onClick={next}>
            Next voters
          </Button>
        </div>
      )}
      {!isEditable && <ForgetForm isBusy={isBusy} onForget={forget} />}
      {edited && (
        <FormBox
          key={edited.voter}
          opener={`weigh-${edited.voter}`}
          onClose={() => setEdited(undefined)}
        >
          <WeightForm
            name={nameOf(edited)}
            weight={edited.weight}
            isBusy={isBusy}
            onCancel={() => setEdited(undefined)}
            onSubmit={async (weight) => {
              if (await weigh(edited, weight)) setEdited(undefined);
            }}
          />
        </FormBox>
      )}
    </>
  );
}

const COLUMNS = [
  { name: "Voter", hint: "Name in the log; it starts with the id of the API key if one was used" },
  {
    name: "Votes",
    isNumber: true,
    hint: "Votes in the log, without comments; at most 10,000 are counted",
  },
  { name: "First vote", isSpaced: true },
  { name: "Last vote", isSpaced: true },
  {
    name: "Learner's estimate",
    isSpaced: true,
    hint: "For people: how much a vote counts, from 0 to 1, estimated from how often the voter agreed with the router. For judges and signals: how closely the votes follow those of people, with the 95% interval",
  },
  {
    name: "Weight",
    isSpaced: true,
    hint: "Set by an operator, from 0 (excluded) to 1 (the default); it multiplies the learner's estimate",
  },
  { name: "Change", isHidden: true },
];
