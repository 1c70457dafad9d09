import { useState } from "preact/hooks";
import { Button } from "./button.tsx";

/**
 * A button that must be pressed twice, because its effect is large or cannot be undone. The first press changes its text;
 * leaving the button changes the text back. `target` names the object of the action for screen readers.
 */
export function ConfirmButton({
  text,
  target,
  consequence,
  onConfirm,
  isBusy = false,
  variant = "quiet",
  disabled = false,
}: {
  text: string;
  target: string;
  /** A further effect of the action, which the text names after the first press. */
  consequence?: string | undefined;
  onConfirm: () => void;
  /** While true, presses have no effect. The button stays enabled, because a disabled button loses the focus. */
  isBusy?: boolean;
  variant?: "plain" | "quiet";
  disabled?: boolean;
}) {
  const [isSure, setIsSure] = useState(false);
  const shown = isSure ? `Really ${text.toLowerCase()}` : text;
  const also = isSure && consequence ? ` ${consequence}` : "";
  return (
    <Button
      variant={variant}
      disabled={disabled}
      aria-label={`${shown} ${target}${also}`}
      onBlur={() => setIsSure(false)}
      onClick={() => {
        if (isBusy) return;
        setIsSure(!isSure);
        if (isSure) onConfirm();
      }}
    >
      {`${shown}${also}`}
    </Button>
  );
}
