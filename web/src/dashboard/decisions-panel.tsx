import { useEffect, useMemo, useState } from "preact/hooks";
import { joust } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { decisionHref } from "../page/route.ts";
import { useMedia } from "../parts/media.ts";
import { Panel } from "../parts/panel.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { useValue } from "../state/observable.ts";
import { ago, dollars } from "../text/format.ts";
import { topicOf } from "../text/topics.ts";
import { DecisionLog, type DecisionRow } from "./decision-log.ts";

/** Row heights in pixels; on a narrow screen a sentence takes two lines. */
const ROW_HEIGHT = { narrow: 104, wide: 44 };
const HEIGHT = 530;

/** The list of all decisions, updated as new ones are made. */
export function DecisionsPanel({ router }: { router: string }) {
  const { feed } = usePage();
  const log = useMemo(
    () => new DecisionLog((query) => joust.decisions({ router, ...query })),
    [router],
  );
  const rows = useValue(log.rows);
  const isComplete = useValue(log.isComplete);
  const [now, setNow] = useState(Date.now());
  const rowHeight = useMedia("(min-width: 64rem)") ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow;
  useEffect(() => {
    let timer: number | undefined;
    const refresh = () => {
      timer ??= window.setTimeout(() => {
        timer = undefined;
        setNow(Date.now());
        log.refresh().catch(() => {}); // the banner reports a lost connection
      }, 1000);
    };
    log.loadMore().catch(() => {});
    const unlisten = feed.listen(refresh);
    const unwatch = feed.connection.watch(({ state }) => state === "live" && refresh());
    const clock = setInterval(() => setNow(Date.now()), 10_000);
    return () => {
      clearTimeout(timer);
      clearInterval(clock);
      unlisten();
      unwatch();
    };
  }, [log]);
  return (
    <Panel title="Decisions" about="Newest first, each with its reason.">
      {rows.length === 0 && isComplete ? (
        <p class="text-sm text-muted">There are no decisions yet.</p>
      ) : (
        <div class="-mx-2">
          <VirtualList
            rows={rows}
            rowHeight={rowHeight}
            height={Math.min(HEIGHT, Math.max(1, rows.length) * rowHeight)}
            label="Decisions"
            render={(row) => <Row row={row} now={now} />}
            onNearEnd={() => {
              if (rows.length > 0) log.loadMore().catch(() => {});
            }}
          />
        </div>
      )}
    </Panel>
  );
}

function Row({ row, now }: { row: DecisionRow; now: number }) {
  const { id, at, text, category, votes, cost } = row;
  return (
    <a
      href={decisionHref(id)}
      class="flex h-full flex-col justify-center gap-x-4 gap-y-0.5 border-b border-line px-2 hover:bg-sunken focus-visible:-outline-offset-2 lg:flex-row lg:items-center"
    >
      <span class="line-clamp-3 text-sm leading-snug lg:line-clamp-1 lg:flex-1">{text}</span>
      <span class="flex gap-x-3 text-xs whitespace-nowrap text-muted tabular-nums max-lg:flex-wrap lg:gap-x-4">
        <span class="truncate text-accent max-lg:order-last max-lg:basis-full max-lg:empty:hidden lg:w-44">
          {votes}
        </span>
        <span class="lg:w-28">{category !== undefined && topicOf(category)}</span>
        <span class="lg:w-20 lg:text-right">{cost !== undefined && dollars(cost)}</span>
        <span class="max-lg:order-first lg:w-20 lg:text-right">{ago(at, now)}</span>
      </span>
    </a>
  );
}
