import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Panel } from "../parts/panel.tsx";
import { useManaged } from "./managed.ts";

interface Metric {
  readonly type: "boolean" | "number" | "rating";
  readonly min?: number;
  readonly max?: number;
  readonly direction: "higher" | "lower";
  readonly level: "request" | "session";
  readonly weight: number;
}

/** Metrics that clients send as feedback, with the weight of a value in learning. */
export function MetricsPanel() {
  const { configuration, isEditable, change, isBusy } = useManaged();
  const metrics = Object.entries(configuration.effective.metrics) as unknown as [string, Metric][];
  return (
    <Panel
      title="Metrics"
      about="Values that programs send about answers, such as whether a task was solved. Joust learns from them as from ratings."
    >
      {metrics.length === 0 && <p class="text-sm text-muted">There is no metric yet.</p>}
      {metrics.length > 0 && (
        <DataTable label="Metrics" columns={COLUMNS}>
          {metrics.map(([name, { type, min, max, direction, level, weight }]) => (
            <tr key={name} class="border-t border-line">
              <th scope="row" class="py-2 pr-3 text-left font-medium break-all">
                {name}
              </th>
              <td class="text-muted">
                {type === "boolean" ? "yes or no" : `${type}, ${min} to ${max}`}
              </td>
              <td class="text-muted">{`${direction} is better`}</td>
              <td class="text-muted">{level === "request" ? "one answer" : "a session"}</td>
              <td class="text-right tabular-nums">{weight}</td>
              <td class="text-right">
                {isEditable && (
                  <Button
                    variant="quiet"
                    disabled={isBusy}
                    aria-label={`Remove ${name}`}
                    onClick={() => change([{ section: "metrics", name, value: null }])}
                  >
                    Remove
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </DataTable>
      )}
      {isEditable && <MetricForm />}
    </Panel>
  );
}

const COLUMNS = [
  { name: "Name" },
  { name: "Values" },
  { name: "Direction" },
  { name: "About" },
  { name: "Weight", isNumber: true },
  { name: "Remove", isHidden: true },
];

/** Adds a metric, or changes the one of the same name. */
function MetricForm() {
  const { change, isBusy } = useManaged();
  const [name, setName] = useState("");
  const [type, setType] = useState<Metric["type"]>("boolean");
  const [min, setMin] = useState("0");
  const [max, setMax] = useState("1");
  const [direction, setDirection] = useState<Metric["direction"]>("higher");
  const [level, setLevel] = useState<Metric["level"]>("request");
  const [weight, setWeight] = useState("0.5");
  const save = async () => {
    const range = type === "boolean" ? {} : { min: Number(min), max: Number(max) };
    const value = { type, ...range, direction, level, weight: Number(weight) };
    if (await change([{ section: "metrics", name: name.trim(), value }])) setName("");
  };
  return (
    <form
      class="grid items-start gap-4 sm:grid-cols-3"
      aria-label="Add a metric"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "") save();
      }}
    >
      <h3 class="text-sm font-semibold sm:col-span-3">Add a metric</h3>
      <TextField label="Metric" value={name} onChange={setName} />
      <SelectField
        label="Values"
        value={type}
        onChange={setType}
        options={[
          { value: "boolean", text: "yes or no" },
          { value: "number", text: "number" },
          { value: "rating", text: "rating" },
        ]}
      />
      <TextField
        label="Weight"
        type="number"
        min={0}
        max={1}
        value={weight}
        onChange={setWeight}
        about="From 0 to 1; a person's vote counts 1."
      />
      {type !== "boolean" && (
        <>
          <TextField label="Lowest value" type="number" value={min} onChange={setMin} />
          <TextField label="Highest value" type="number" value={max} onChange={setMax} />
        </>
      )}
      <SelectField
        label="Direction"
        value={direction}
        onChange={setDirection}
        options={[
          { value: "higher", text: "higher is better" },
          { value: "lower", text: "lower is better" },
        ]}
      />
      <SelectField
        label="About"
        value={level}
        onChange={setLevel}
        options={[
          { value: "request", text: "one answer" },
          { value: "session", text: "all answers of a session" },
        ]}
      />
      <div class="sm:col-span-3">
        <Button type="submit" disabled={isBusy || name.trim() === ""}>
          Save the metric
        </Button>
      </div>
    </form>
  );
}
