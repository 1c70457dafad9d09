import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { NumberField } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";

/** Sets the weight of a voter. */
export function WeightForm({
  name,
  weight,
  isBusy,
  onSubmit,
  onCancel,
}: {
  name: string;
  weight: number;
  isBusy: boolean;
  onSubmit: (weight: number) => void;
  onCancel: () => void;
}) {
  const [value, setValue] = useState(String(weight));
  const isValid = value.trim() !== "" && Number(value) >= 0 && Number(value) <= 1;
  return (
    <Form
      class="flex flex-col gap-3"
      aria-label={`Weight of ${name}`}
      onSubmit={() => isValid && onSubmit(Number(value))}
    >
      <NumberField
        label={`Weight of ${name}`}
        max={1}
        required
        value={value}
        onChange={setValue}
        about="From 0 (excluded) to 1 (the default), for all votes of this voter, earlier and later ones."
      />
      <div class="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" disabled={isBusy || !isValid}>
          Set the weight
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </Form>
  );
}
