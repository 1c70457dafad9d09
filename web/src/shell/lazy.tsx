import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Loading } from "../parts/loading.tsx";

/** A component whose code is loaded when it is first shown. */
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
    let isUnmounted = false;
    load().then(
      (part) => !isUnmounted && setPart(() => part),
      () => !isUnmounted && setIsFailed(true),
    );
    return () => {
      isUnmounted = true;
    };
  }, [load]);
  if (Part) return <Part {...props} />;
  // After an update of the gateway the old files are gone, and only a reload helps.
  if (isFailed) {
    return (
      <div class="m-auto flex flex-col items-center gap-4 p-8 text-muted">
        <p>This part of the page could not be loaded.</p>
        <Button onClick={() => location.reload()}>Reload the page</Button>
      </div>
    );
  }
  return <Loading />;
}
