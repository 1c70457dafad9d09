import { styleText } from "node:util";
import { POLICIES } from "../../core/bandit/policies/index.ts";
import type { PolicyKind } from "../../core/bandit/policy.ts";
import { InputError } from "../../core/input/input-error.ts";
import { contenderOf, parsePolicies } from "../../core/policy-spec/policy-spec.ts";
import { type Table, toText } from "../../lab/report/table.ts";
import { plural } from "../../lab/report/words.ts";
import { ENOUGH_EXPLORED } from "../../learner/estimates.ts";
import type { FindPolicy, Fold } from "../../learner/fold.ts";
import { isDamaged, type Replay, type ReplayOptions, replay } from "../../learner/replay.ts";
import type { Store } from "../../store/store.ts";
import { type ShowProgress, watchedStore, withProgress } from "../shared/progress.ts";
import { configurationFlags, type StoreFlags, withRouter } from "../shared/store-flags.ts";

export interface ReplayFlags extends StoreFlags {
  readonly policy?: string | undefined;
  readonly until?: number | undefined;
  readonly json?: boolean | undefined;
  readonly hours: number;
  readonly config?: string | undefined;
}

/** Replays the log and prints the result. Returns 1 if the saved snapshot differs from the log. */
export async function runReplay(flags: ReplayFlags): Promise<number> {
  const result = await withProgress((show) => replayed(flags, show));
  process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : replayText(result));
  return isDamaged(result.snapshot) ? 1 : 0;
}

function replayed(flags: ReplayFlags, show: ShowProgress): Promise<Replay> {
  return withRouter(flags, async (opened, router) => {
    const store = watchedStore(opened, show);
    const policies = await policiesOf(flags.policy);
    await store.migrated();
    let fold: Fold | undefined;
    const found = await replay(store, router, {
      ...policies,
      until: flags.until,
      onFolded: (folded) => {
        fold = folded;
      },
    });
    if (!found || !fold) {
      throw new InputError(
        { file: `router ${router}` },
        "has no configuration in this part of the log, so its votes cannot be folded",
        "start joust serve with this router once, or choose a later --until",
      );
    }
    return flags.json ? { ...found, ...(await pageNumbers(store, fold, router, flags)) } : found;
  });
}

/** The numbers that the page shows, from the same log. They need the gateway's modules. */
async function pageNumbers(store: Store, fold: Fold, router: string, flags: ReplayFlags) {
  const { insightOf } = await import("../../gateway/insight/replayed.ts");
  const { windowOf } = await import("../../gateway/insight/numbers.ts");
  const { pricesOf } = await import("../../gateway/insight/spend.ts");
  const { checkedConfiguration } = await import("../serve/configuration.ts");
  const { config, placement } = await checkedConfiguration(configurationFlags(flags));
  return insightOf(store, router, fold, windowOf(flags.hours, flags.until ?? Date.now()), {
    prices: pricesOf(placement.models),
    current: config.routers[router]?.cost_quality_tradeoff ?? null,
  });
}

/** The policy of the option --policy, and a function that finds the policies of the log. */
export async function policiesOf(
  text: string | undefined,
): Promise<Pick<ReplayOptions, "findPolicy" | "policy">> {
  const known = new Map<string, PolicyKind>(POLICIES.map((kind) => [kind.name, kind]));
  const findPolicy: FindPolicy = (name) => {
    const kind = known.get(name);
    if (kind) return kind;
    throw new InputError(
      { file: "the log" },
      `names the policy ${name}, which is unknown`,
      "give its file with --policy ./FILE, or another policy to replay with",
    );
  };
  if (text === undefined) return { findPolicy };
  const place = { file: `--policy ${text}` };
  const [spec, ...more] = await parsePolicies(text, process.cwd()).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(place, error.problem, error.hint);
  });
  if (more.length > 0) throw new InputError(place, "names several policies", "give one policy");
  const { kind, options } = await contenderOf(spec!);
  if (kind.needsHindsight) {
    throw new InputError(
      place,
      "needs the true utilities, which only a simulation has",
      'choose another policy: "joust policies" lists them',
    );
  }
  known.set(kind.name, kind);
  return { findPolicy, policy: { name: spec!.name, kind: kind.name, options } };
}

const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });

/** The result of a replay as text for the terminal. */
function replayText(result: Replay): string {
  const { router, policy, encoder, position, hash, votes, snapshot, frozen } = result;
  const skipped = [
    votes.void > 0 && `${votes.void} that no longer count`,
    votes.retired > 0 && `${votes.retired} on models that are not in the pool`,
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

function snapshotLine({
  position,
  hash,
  matches,
  outdated,
}: NonNullable<Replay["snapshot"]>): string {
  if (matches) return `the learner's snapshot at ${position} is the same, bit for bit`;
  if (outdated) {
    return `the learner's snapshot at ${position} is from another version of Joust; the gateway learns the votes again when it starts`;
  }
  return `the learner's snapshot at ${position} DIFFERS: ${hash}`;
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
      title: `Value of policies, estimated from ${decisions} decisions with ${duels} duels, of which ${votes} have a vote`,
      columns: [
        { key: "policy", title: "policy", kind: "text" },
        { key: "dr", title: "DR", kind: "interval" },
        { key: "gain", title: "gain over the first policy", kind: "interval" },
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
