import { useEffect, useMemo, useState } from "preact/hooks";
import { joust } from "../api/client.ts";
import { decisionHref } from "../page/route.ts";
import { Button } from "../parts/button.tsx";
import { useMedia } from "../parts/media.ts";
import { Panel } from "../parts/panel.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { useValue } from "../state/observable.ts";
import { clockTime, dollars, duration, plural } from "../text/format.ts";
import { type Filter, filterOf, queryOf, requestsHref } from "./filter.ts";
import { FilterForm } from "./filter-form.tsx";
import { type Progress, type RequestRow, RequestSearch } from "./request-search.ts";

/** Row heights in pixels; on a narrow screen a row has three lines. */
const ROW_HEIGHT = { narrow: 84, wide: 44 };
const HEIGHT = 616;

/** The page on which requests are searched. The conditions are in the URL, so that a search can be shared. */
export function RequestsPage({ search }: { search: string }) {
  const filter = useMemo(() => filterOf(search), [search]);
  const [repeats, setRepeats] = useState(0);
  const found = useMemo(
    () => new RequestSearch(queryOf(filter, Date.now())),
    [JSON.stringify(filter), repeats],
  );
  useEffect(() => {
    found.more();
    return () => found.stop();
  }, [found]);
  const rows = useValue(found.rows);
  const progress = useValue(found.progress);
  return (
    <div class="mx-auto flex w-full max-w-6xl flex-col gap-4 px-3 py-6 sm:px-6">
      <h1 class="text-2xl font-semibold tracking-tight">Requests</h1>
      <Panel title="Search" about="Requests in the log, newest first. Open one to see its details.">
        <FilterForm
          filter={filter}
          onChange={(next) => {
            location.hash = requestsHref(next);
          }}
        />
      </Panel>
      <Panel
        title="Results"
        actions={
          <div class="flex flex-wrap gap-2">
            <Button onClick={() => setRepeats(repeats + 1)}>Search again</Button>
            <ExportButtons filter={filter} />
          </div>
        }
      >
        <Found
          progress={progress}
          rows={rows.length}
          hasConditions={Object.keys(filter).length > 0}
          onMore={() => found.more()}
        />
        <Rows rows={rows} onNearEnd={() => rows.length > 0 && found.more()} />
      </Panel>
    </div>
  );
}

/** The number of results and how far the search has come. */
function Found({
  progress,
  rows,
  hasConditions,
  onMore,
}: {
  progress: Progress;
  rows: number;
  hasConditions: boolean;
  onMore: () => void;
}) {
  const { state, searchedTo, problem } = progress;
  const back = searchedTo === undefined ? "" : `, searched back to ${clockTime(searchedTo)}`;
  const text = {
    searching: rows === 0 ? `Searching${back} …` : `${plural(rows, "request")}${back} …`,
    paused:
      rows === 0
        ? `Nothing found so far${back}.`
        : `${plural(rows, "request")}${back}. Scroll for older ones.`,
    complete:
      rows > 0
        ? `${plural(rows, "request")}.`
        : hasConditions
          ? "No request meets all conditions."
          : "There are no requests yet. Ask a question in the arena, or connect a client.",
    failed: `The search failed: ${problem}`,
  }[state];
  return (
    <div class="flex min-h-10 flex-wrap items-center gap-3">
      <p role="status" class={`text-sm ${state === "failed" ? "text-bad" : "text-muted"}`}>
        {text}
      </p>
      {((state === "paused" && rows === 0) || state === "failed") && (
        <Button onClick={onMore}>{state === "failed" ? "Try again" : "Search further"}</Button>
      )}
    </div>
  );
}

function Rows({ rows, onNearEnd }: { rows: readonly RequestRow[]; onNearEnd: () => void }) {
  const isWide = useMedia("(min-width: 64rem)");
  const rowHeight = isWide ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow;
  if (rows.length === 0) return null;
  return (
    <div class="-mx-2">
      <div
        aria-hidden="true"
        class="hidden gap-x-4 px-2 pb-1 text-xs text-muted lg:flex [&>*]:truncate"
      >
        <span class="w-44">Time</span>
        <span class="flex-1">Models</span>
        <span class="w-28">Router</span>
        <span class="w-28">Outcome</span>
        <span class="w-40">Votes</span>
        <span class="w-20 text-right">Cost</span>
        <span class="w-20 text-right">Duration</span>
      </div>
      <VirtualList
        rows={rows}
        rowHeight={rowHeight}
        height={Math.min(HEIGHT, rows.length * rowHeight)}
        label="Results"
        render={(row) => <Row row={row} />}
        onNearEnd={onNearEnd}
      />
    </div>
  );
}

const OUTCOMES = {
  ok: { text: "answered", colour: "text-muted" },
  fallback: { text: "after a fallback", colour: "text-warn" },
  stopped: { text: "stopped", colour: "text-muted" },
  failed: { text: "failed", colour: "text-bad" },
  none: { text: "no answer", colour: "text-muted" },
} as const;

function Row({ row }: { row: RequestRow }) {
  const { id, at, router, models, votes, cost, latency } = row;
  const { text, colour } = OUTCOMES[row.outcome];
  return (
    <a
      href={decisionHref(id)}
      class="flex h-full flex-col justify-center gap-x-4 gap-y-1 border-b border-line px-2 text-sm tabular-nums hover:bg-sunken focus-visible:-outline-offset-2 lg:flex-row lg:items-center"
    >
      <span class="min-w-0 truncate lg:order-1 lg:flex-1" title={models}>
        {models ?? "Hidden until the vote"}
      </span>
      <span class="flex min-w-0 gap-x-3 text-xs whitespace-nowrap text-muted lg:contents lg:text-sm">
        <span class="lg:w-44">{clockTime(at)}</span>
        <span class="min-w-0 truncate lg:order-2 lg:w-28" title={router}>
          {router}
        </span>
        <span class={`lg:order-3 lg:w-28 ${colour}`}>{text}</span>
      </span>
      <span class="flex gap-x-3 text-xs whitespace-nowrap lg:order-3 lg:contents lg:text-sm lg:*:order-3">
        <span class="truncate text-accent lg:w-40" title={votes}>
          {votes}
        </span>
        <span class="max-lg:ml-auto lg:w-20 lg:text-right">
          {cost === undefined ? "" : dollars(cost)}
        </span>
        <span class="text-muted lg:w-20 lg:text-right">
          {latency === undefined ? "" : duration(latency)}
        </span>
      </span>
    </a>
  );
}

/** Buttons that save the results as a file. */
function ExportButtons({ filter }: { filter: Filter }) {
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const save = async (format: "csv" | "json") => {
    setState("busy");
    try {
      const query = { ...queryOf(filter, Date.now()), format, limit: MOST_EXPORTED };
      download(await joust.exportDecisions(query), `joust-requests.${format}`);
      setState("idle");
    } catch {
      setState("failed");
    }
  };
  return (
    <>
      {(["csv", "json"] as const).map((format) => (
        <Button
          key={format}
          disabled={state === "busy"}
          title={`Up to ${MOST_EXPORTED.toLocaleString("en")} requests`}
          onClick={() => save(format)}
        >
          Export {format.toUpperCase()}
        </Button>
      ))}
      {state !== "idle" && (
        <p
          role="status"
          class={`self-center text-sm ${state === "failed" ? "text-bad" : "text-muted"}`}
        >
          {state === "busy" ? "Exporting …" : "The export failed."}
        </p>
      )}
    </>
  );
}

const MOST_EXPORTED = 100_000;

function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has read the address when the click returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
