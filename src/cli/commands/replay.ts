/** `joust replay`: the log folded again. */
import { styleText } from "node:util";
import { Command } from "commander";
import { POLICIES } from "../../core/bandit/policies/index.ts";
import type { PolicyKind } from "../../core/bandit/policy.ts";
import { InputError } from "../../core/input/input-error.ts";
import { contenderOf, parsePolicies } from "../../lab/policies/policy-spec.ts";
import { type Table, toText } from "../../lab/report/table.ts";
import { plural } from "../../lab/report/words.ts";
import { ENOUGH_EXPLORED } from "../../learner/estimates.ts";
import type { FindPolicy, Fold } from "../../learner/fold.ts";
import { type Replay, type ReplayOptions, replay } from "../../learner/replay.ts";
import type { Store } from "../../store/store.ts";
import { number } from "../shared/flags.ts";
import { JOUST } from "../shared/invocation.ts";
import {
  DEFAULT_DATA,
  moment,
  routerOf,
  type StoreFlags,
  withStore,
  withStoreFlags,
} from "../shared/store-flags.ts";

interface ReplayFlags extends StoreFlags {
  readonly policy?: string | undefined;
  readonly until?: number | undefined;
  readonly json?: boolean | undefined;
  readonly hours: number;
  readonly config?: string | undefined;
}

export function replayCommand(): Command {
  const command = new Command("replay").description(
    "Folds the log of a router again from its first vote: the same posterior, bit for bit, as the one that is served. Tells its hash, what it believes of each model, and estimates from the logged propensities what policies would be worth. Nothing is encoded again, and nothing is written.",
  );
  return withStoreFlags(command)
    .option("--policy <p>", "as if this policy had been configured: name:key=value or ./mine.ts")
    .option("--until <time>", "only what was logged by then", moment("--until"))
    .option("--json", "print JSON and nothing else, with all numbers of the dashboard")
    .option("--hours <n>", "how far back its counts go", number("--hours", HOURS), 24)
    .option("--config <file>", "where its prices are (default: as joust serve finds them)")
    .helpOption("-h, --help", "this text")
    .addHelpText("after", AFTER)
    .action(async (flags: ReplayFlags) => {
      const result = await withStore(flags, async (store) => {
        const router = await routerOf(store, flags.router);
        const { findPolicy, policy } = await policiesOf(flags.policy);
        let fold: Fold | undefined;
        const onFolded = (folded: Fold) => {
          fold = folded;
        };
        const options = { findPolicy, until: flags.until, onFolded, ...policy };
        const found = await replay(store, router, options);
        if (found && fold && flags.json)
          return { ...found, ...(await dashboard(store, fold, router, flags)) };
        if (found) return found;
        throw new InputError(
          { file: `router ${router}` },
          "was not configured by then, so there is nothing to fold its votes with",
          "start joust serve with it once, or take a later --until",
        );
      });
      process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : screen(result));
      // The served posterior is not what its log says: somebody should look.
      if (result.snapshot?.matches === false) process.exitCode = 1;
    });
}

const HOURS = { from: 1, to: 8784, example: 24 };

/** What the page shows, from the same log. All that the gateway is made of is loaded only for it. */
async function dashboard(store: Store, fold: Fold, router: string, flags: ReplayFlags) {
  const { insightOf } = await import("../../gateway/insight/replayed.ts");
  const { windowOf } = await import("../../gateway/insight/numbers.ts");
  const { pricesOf } = await import("../../gateway/insight/spend.ts");
  const { servedHere } = await import("../serve/serve.ts");
  const { config, placement } = await servedHere({
    data: flags.data ?? DEFAULT_DATA,
    ...(flags.config !== undefined && { config: flags.config }),
  });
  return insightOf(store, router, fold, windowOf(flags.hours, flags.until ?? Date.now()), {
    prices: pricesOf(placement.models),
    current: config.routers[router]?.cost_quality_tradeoff ?? null,
  });
}

const AFTER = `
The value of a policy is the probability that an answer it serves is preferred to that of a model
drawn from the candidates; 0.5 is no better than drawing. IPS and SNIPS weigh logged votes by
their propensities, DR (doubly robust) corrects a model's forecast by them and is usually the
narrowest. They hold where explore > 0, for traffic in which duels are allowed, and if whether
somebody votes depends neither on the query nor on the answers. The other policy learns from
the votes that there are, not from those that its own choices would have brought.

Examples:
  What has been learnt, and whether the learner's snapshot is what the log says:
    ${JOUST} replay --data joust-data
  What another policy would have been worth:
    ${JOUST} replay --policy joust:alpha=2
  As it was a week ago, for a program to read:
    ${JOUST} replay --until 2026-11-08T00:00:00Z --json
`;

/** The named policy, and how the log's are found by their names. */
async function policiesOf(
  text: string | undefined,
): Promise<{ readonly findPolicy: FindPolicy; readonly policy: Pick<ReplayOptions, "policy"> }> {
  const known = new Map<string, PolicyKind>(POLICIES.map((kind) => [kind.name, kind]));
  const findPolicy: FindPolicy = (name) => {
    const kind = known.get(name);
    if (kind) return kind;
    throw new InputError(
      { file: "the log" },
      `names the policy ${name}, which is not known here`,
      "give its file by --policy ./FILE, or another policy to fold with",
    );
  };
  if (text === undefined) return { findPolicy, policy: {} };
  const [spec, ...more] = await parsePolicies(text, process.cwd()).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    throw new InputError({ file: `--policy ${text}` }, error.problem, error.hint);
  });
  if (more.length > 0) throw new InputError({ file: "--policy" }, "names several", "give one");
  const { kind, options } = await contenderOf(spec!);
  if (kind.needsHindsight) {
    throw new InputError(
      { file: `--policy ${text}` },
      "knows the truth, which only a simulation does",
      "take another one: the command policies lists them",
    );
  }
  known.set(kind.name, kind);
  return { findPolicy, policy: { policy: { name: spec!.name, kind: kind.name, options } } };
}

const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });

function screen(result: Replay): string {
  const { router, policy, encoder, position, hash, votes, snapshot, frozen } = result;
  const passed = [
    votes.void > 0 && `${votes.void} void`,
    votes.retired > 0 && `${votes.retired} about models that have left`,
    votes.foreign > 0 && `${votes.foreign} with another encoder's vectors`,
  ].filter(Boolean);
  const width = process.stdout.columns || Infinity;
  const table = (table: Table) => toText(table, { bold, dim }, width);
  return [
    `Router ${router}, policy ${policy}, encoder ${encoder}, position ${position}${frozen ? ", frozen" : ""}`,
    `${plural(votes.votes, "vote")} learnt${passed.length > 0 ? `, passed over: ${passed.join(", ")}` : ""}`,
    `posterior ${hash}`,
    ...(snapshot ? [snapshotLine(snapshot)] : []),
    "",
    ...boards(result).map(table),
    ...evaluations(result).map(table),
    ...(isTooFew(result) ? [dim(TOO_FEW)] : []),
  ].join("\n");
}

function isTooFew({ evaluation }: Replay): boolean {
  return evaluation !== null && evaluation.explored < ENOUGH_EXPLORED;
}

const TOO_FEW =
  "Few votes are on choices made at random, so the intervals are too narrow; hint: more votes, or a larger explore";

function snapshotLine({ position, hash, matches }: NonNullable<Replay["snapshot"]>): string {
  return matches
    ? `the learner's snapshot at ${position} is the same, bit for bit`
    : `the learner's snapshot at ${position} DIFFERS: ${hash}`;
}

function boards({ leaderboards }: Replay): Table[] {
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
    rows: models.map(({ model, value, sd, wins, losses, ties }) => [
      model,
      value,
      sd,
      wins,
      losses,
      ties,
    ]),
  }));
}

function evaluations({ evaluation }: Replay): Table[] {
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
        { key: "cost", title: "USD a query", kind: "number" },
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
