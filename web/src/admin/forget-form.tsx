import { useState } from "preact/hooks";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { TextField } from "../parts/field.tsx";

/** Forgets a voter by name, where the list of voters is read-only. `onForget` returns whether the voter was forgotten. */
export function ForgetForm({
  isBusy,
  onForget,
}: {
  isBusy: boolean;
  onForget: (voter: string) => Promise<boolean>;
}) {
  const [name, setName] = useState("");
  const voter = name.trim();
  const forget = async () => {
    if (await onForget(voter)) setName("");
  };
  return (
    <div class="flex flex-col gap-3">
      <TextField
        label="Erase all votes of a voter"
        value={name}
        onChange={setName}
        placeholder="name of the voter"
        about="This cannot be undone. The list of voters has the names."
      />
      <div>
        <ConfirmButton
          text="Forget"
          target={voter}
          variant="plain"
          disabled={voter === ""}
          isBusy={isBusy}
          onConfirm={forget}
        />
      </div>
    </div>
  );
}
