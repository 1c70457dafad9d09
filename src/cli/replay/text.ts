import { styleText } from "node:util";
import { type Table, toText } from "../../lab/report/table.ts";
import { plural } from "../../lab/report/words.ts";
import { ENOUGH_EXPLORED } from "../../learner/estimates.ts";
import type { Replay } from "../../learner/replay.ts";

const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });

/** The result of a replay as text for the terminal. */
export function replayText(result: Replay): string {
  const { router, policy, encoder, position, hash, votes, snapshot, frozen } = result;
  const skipped = [
    votes.void > 0 && `${votes.void} void`,
    votes.retired > 0 && `${votes.retired} on models that have left the pool`,
    votes.foreign > 0 && `${votes.foreign} with embeddings of another encoder`,
  ].filter(Boolean);
  const width = process.stdout.columns || Infinity;
  const tables = [...leaderboardTables(result), ...valueTables(result)];
  return [
    `Router ${router}, policy ${policy}, encoder ${encoder}, position ${position}${frozen ? ", frozen" : ""}`,
    `${plural(votes.votes, "vote")} learned${skipped.length > 0 ? `, skipped: ${skipped.join(", ")}` : ""}`,
    `posterior ${hash}`,
    ...(snapshot ? [snapshotLine(snapshot)] : []),
    "",
    ...tables.map((table) => toText(table, { bold, dim }, width)),
    ...(hasFewExplored(result) ? [dim(FEW_EXPLORED)] : []),
  ].join("\n");
}

function hasFewExplored({ evaluation }: Replay): boolean {
  return evaluation !== null && evaluation.explored < ENOUGH_EXPLORED;
}

const FEW_EXPLORED =
  "Only a few votes are on random choices, so the intervals are too narrow.\nhint: collect more votes, or raise explore";

function snapshotLine({ position, hash, matches }: NonNullable<Replay["snapshot"]>): string {
  return matches
    ? `the learner's snapshot at ${position} is the same, bit for bit`
    : `the learner's snapshot at ${position} DIFFERS: ${hash}`;
}

function leaderboardTables({ leaderboards }: Replay): Table[] {
  return leaderboards.map(({ category, models }) => ({
    title: `Category ${category}`,
    columns: [
      { key: "model", title: "model", kind: "text" },
      { key: "value", title: "utility over the mean", kind: "number" },
      { key: "sd", title: "sd", kind: "number" },
      { key: "wins", title: "wins", kind: "number" },
      { key: "losses", title: "losses", kind: "number" },
      { key: "ties", title: "ties", kind: "number" },
    ],
    rows: models.map((one) => [one.model, one.value, one.sd, one.wins, one.losses, one.ties]),
  }));
}

function valueTables({ evaluation }: Replay): Table[] {
  if (!evaluation) return [];
  const { decisions, duels, votes, targets, costs } = evaluation;
  return [
    {
      title: `Value, by ${decisions} decisions with ${duels} duels, ${votes} of them voted on`,
      columns: [
        { key: "policy", title: "policy", kind: "text" },
        { key: "dr", title: "DR", kind: "interval" },
        { key: "gain", title: "gain over the first", kind: "interval" },
        { key: "snips", title: "SNIPS", kind: "interval" },
        { key: "ips", title: "IPS", kind: "interval" },
        { key: "cost", title: "USD per query", kind: "number" },
      ],
      rows: targets.map(({ name, dr, gain, snips, ips }, t) => [
        name,
        dr,
        t === 0 ? null : gain,
        snips,
        ips,
        costs[t] ?? null,
      ]),
    },
  ];
}
