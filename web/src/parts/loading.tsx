import { useEffect, useState } from "preact/hooks";

/** Says that a part of the page is loading. It becomes visible after a moment, so that a fast page does not flicker. */
export function Loading() {
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), 400);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" class={isSlow ? "m-auto p-8 text-muted" : "sr-only"}>
      Loading…
    </p>
  );
}
