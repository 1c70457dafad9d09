import { Button } from "../parts/button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { NumberField, SelectField, TextField } from "../parts/field.tsx";
import { Form, useFields } from "../parts/form.tsx";
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
  const { fields, set, bind } = useFields({
    name: "",
    type: "boolean" as Metric["type"],
    min: "0",
    max: "1",
    direction: "higher" as Metric["direction"],
    level: "request" as Metric["level"],
    weight: "0.5",
  });
  const { type, min, max, direction, level, weight } = fields;
  const name = fields.name.trim();
  const save = async () => {
    const range = type === "boolean" ? {} : { min: Number(min), max: Number(max) };
    const value = { type, ...range, direction, level, weight: Number(weight) };
    if (await change([{ section: "metrics", name, value }])) set({ name: "" });
  };
  return (
    <Form
      class="grid items-start gap-4 sm:grid-cols-3"
      aria-label="Add a metric"
      onSubmit={() => name !== "" && save()}
    >
      <h3 class="text-sm font-semibold sm:col-span-3">Add a metric</h3>
      <TextField label="Metric" {...bind("name")} />
      <SelectField
        label="Values"
        {...bind("type")}
        options={[
          { value: "boolean", text: "yes or no" },
          { value: "number", text: "number" },
          { value: "rating", text: "rating" },
        ]}
      />
      <NumberField
        label="Weight"
        max={1}
        {...bind("weight")}
        about="From 0 to 1; a person's vote counts 1."
      />
      {type !== "boolean" && (
        <>
          <TextField label="Lowest value" type="number" {...bind("min")} />
          <TextField label="Highest value" type="number" {...bind("max")} />
        </>
      )}
      <SelectField
        label="Direction"
        {...bind("direction")}
        options={[
          { value: "higher", text: "higher is better" },
          { value: "lower", text: "lower is better" },
        ]}
      />
      <SelectField
        label="About"
        {...bind("level")}
        options={[
          { value: "request", text: "one answer" },
          { value: "session", text: "all answers of a session" },
        ]}
      />
      <div class="sm:col-span-3">
        <Button type="submit" disabled={isBusy || name === ""}>
          Save the metric
        </Button>
      </div>
    </Form>
  );
}
