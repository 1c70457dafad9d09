import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";

/** A part of the page that is fetched when it is first shown. */
export function Lazy<P extends object>({
  load,
  props,
}: {
  load: () => Promise<FunctionComponent<P>>;
  props: P;
}) {
  const [Part, setPart] = useState<FunctionComponent<P>>();
  const [isFailed, setIsFailed] = useState(false);
  useEffect(() => {
    let isGone = false;
    load().then(
      (part) => !isGone && setPart(() => part),
      () => !isGone && setIsFailed(true),
    );
    return () => {
      isGone = true;
    };
  }, [load]);
  if (Part) return <Part {...props} />;
  // A gateway that was updated has other files: the page has to be the new one too.
  if (isFailed) {
    return (
      <div class="m-auto flex flex-col items-center gap-4 p-8 text-muted">
        <p>This part of the page could not be loaded.</p>
        <Button onClick={() => location.reload()}>Load the page again</Button>
      </div>
    );
  }
  return <p class="sr-only">Loading</p>;
}
