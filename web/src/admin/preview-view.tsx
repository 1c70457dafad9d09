import type { RouterPreview } from "../../../src/client.ts";
import { DataTable } from "../parts/data-table.tsx";
import { dollars, percent, plural } from "../text/format.ts";
import { signedWins } from "../text/wins.ts";

/** The effect that a change would have had on the requests of the last week. */
export function PreviewView({ routers }: { routers: readonly RouterPreview[] }) {
  if (routers.length === 0) {
    return (
      <p role="status" class="text-sm text-muted">
        The change is valid. It changes no router that is served now.
      </p>
    );
  }
  return (
    <div role="status" class="flex flex-col gap-4">
      {routers.map((one) => (
        <RouterPreviewView key={one.router} preview={one} />
      ))}
    </div>
  );
}

function RouterPreviewView({ preview }: { preview: RouterPreview }) {
  const { router, requests, left_out: leftOut, before, after, quality, notes } = preview;
  const models = [
    ...new Set([...Object.keys(before?.shares ?? {}), ...Object.keys(after?.shares ?? {})]),
  ];
  return (
    <section
      class="flex flex-col gap-3 rounded-xl bg-sunken p-4"
      aria-label={`Effect on ${router}`}
    >
      <h3 class="font-semibold">{`${router}: effect on last week's requests`}</h3>
      {before && after && (
        <>
          <p class="text-sm">{sentence(before.cost, after.cost, quality, requests, leftOut)}</p>
          <DataTable
            label="Share of the requests by model"
            isSmall
            columns={[
              { name: "Model" },
              { name: "Now", isNumber: true },
              { name: "After the change", isNumber: true },
            ]}
          >
            {models.map((model) => (
              <tr key={model} class="border-t border-line">
                <td class="py-1.5 break-all">{model}</td>
                <td class="text-right tabular-nums">{percent(before.shares[model] ?? 0)}</td>
                <td class="text-right tabular-nums">{percent(after.shares[model] ?? 0)}</td>
              </tr>
            ))}
          </DataTable>
          {after.unanswered > 0 && (
            <p class="text-sm text-bad">
              {plural(after.unanswered, "request")} could not have been answered by any model of the
              pool.
            </p>
          )}
        </>
      )}
      {notes.map((note) => (
        <p key={note} class="text-sm text-muted">
          {note}
        </p>
      ))}
    </section>
  );
}

/** Number of requests below which a preview is only a hint. */
const FEW = 20;

function sentence(
  before: number | null,
  after: number | null,
  quality: RouterPreview["quality"],
  requests: number,
  leftOut: number,
): string {
  const others = leftOut === 0 ? "" : ` (${leftOut} more cannot be evaluated)`;
  const based = `Based on ${plural(requests, "request")} of the last seven days${others}`;
  const cost =
    before === null || after === null
      ? "the cost is unknown because a model has no price"
      : `the expected cost per request changes from ${dollars(before)} to ${dollars(after)}`;
  const value = quality
    ? `the quality changes by ${signedWins(quality.mean)} wins of 100 comparisons (95% interval ${signedWins(quality.lo)} to ${signedWins(quality.hi)})`
    : "the change of quality is unknown";
  const doubt = requests < FEW ? " These are few requests: take the numbers as a hint." : "";
  return `${based}: ${cost}; ${value}.${doubt}`;
}
