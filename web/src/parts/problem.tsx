/** An error message, which screen readers announce. Nothing without a text. */
export function Problem({ text }: { text: string | undefined }) {
  if (!text) return null;
  return (
    <p role="alert" class="text-sm text-bad">
      {text}
    </p>
  );
}
