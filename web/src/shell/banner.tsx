import { useEffect, useState } from "preact/hooks";
import { usePage } from "../page/page.ts";
import { useValue } from "../state/observable.ts";
import { duration } from "../text/format.ts";

/** Tells the person when the connection to the gateway is lost and when it is back. */
export function Banner() {
  const connection = useValue(usePage().feed.connection);
  const [isShown, setIsShown] = useState(false);
  const awayMs = connection.state === "live" ? connection.awayMs : undefined;
  const isLost = connection.state === "lost";
  useEffect(() => {
    if (isLost) {
      // Does not report an interruption of less than a second.
      const timer = setTimeout(() => setIsShown(true), 600);
      return () => clearTimeout(timer);
    }
    if (awayMs === undefined || !isShown) return setIsShown(false);
    const timer = setTimeout(() => setIsShown(false), 8000);
    return () => clearTimeout(timer);
  }, [connection]);
  return (
    <div role="status" class="sticky top-14 z-10">
      {isShown && (
        <p
          class={`border-b border-line px-4 py-2 text-center text-sm ${isLost ? "bg-bad text-page" : "bg-tint text-ink"}`}
        >
          {isLost
            ? "The gateway does not respond. Trying again\u2026"
            : awayMs !== undefined &&
              `Connected again after ${duration(awayMs)}. No saved vote was lost.`}
        </p>
      )}
    </div>
  );
}
