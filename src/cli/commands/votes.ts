import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { InputError } from "../../core/input/input-error.ts";
import { codeOf, writeError } from "../../core/input/system-error.ts";
import { WEIGHING } from "../../gateway/administration/audited-voters.ts";
import { plural } from "../../lab/report/words.ts";
import {
  forget,
  freeze,
  type RollbackTarget,
  rollBack,
  thaw,
  weigh,
} from "../../learner/controls.ts";
import { prune } from "../../learner/prune.ts";
import type { Store } from "../../store/store.ts";
import { recordChange } from "../shared/audit.ts";
import { newCommand } from "../shared/command.ts";
import { ENCODER_HELP, number, readNumber, time, withModelsFlag } from "../shared/flags.ts";
import { withProgress } from "../shared/progress.ts";
import {
  DEFAULT_ROUTER,
  type StoreFlags,
  storeKey,
  withRouter,
  withRouterFlags,
  withStore,
} from "../shared/store-flags.ts";
import { listVoters, UNNAMED, voterLine } from "../votes/voters.ts";

export function votesCommand(): Command {
  return newCommand({
    name: "votes",
    summary: "import, export and undo votes",
    description:
      "Imports, exports and undoes the votes of a router, even while a gateway serves the router: its learner notices changes within a second.",
    examples: [
      [
        "Import votes collected elsewhere; importing a file twice changes nothing",
        "joust votes import votes.jsonl",
      ],
      [
        "Export all votes that count (JOUST_STORE_KEY decrypts stored prompts)",
        "joust votes export --out votes.jsonl",
      ],
      [
        "Undo the votes since noon, and all votes of a spammer",
        "joust votes roll-back --to 2026-11-15T12:00:00Z",
        "joust votes forget mallory",
      ],
      [
        "List the voters, and learn nothing from one of them",
        "joust votes voters",
        "joust votes weigh key_1234/ann 0",
      ],
      [
        "Delete the decisions and prompts of last year, but keep what was learned from them",
        "joust votes prune --before 2026-01-01",
      ],
    ],
    notes: `\
A line of a file of votes:
  {"at": "2026-11-15T12:00:00Z", "query": "Why?", "a": "gpt-4", "b": "yi-34b", "outcome": "a", "voter": "ann"}`,
  })
    .helpCommand("help [command]", "print the help of a command")
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(freezeCommand())
    .addCommand(thawCommand())
    .addCommand(rollBackCommand())
    .addCommand(votersCommand())
    .addCommand(weighCommand())
    .addCommand(forgetCommand())
    .addCommand(pruneCommand());
}

interface ImportFlags extends StoreFlags {
  readonly encoder?: string | undefined;
  readonly allowUnknown?: boolean | undefined;
  readonly models?: string | undefined;
}

function importCommand(): Command {
  const command = newCommand({
    name: "import",
    summary: "log the votes of a file",
    description:
      "Logs the votes of a file. The whole file is checked before the first vote is logged. Votes that are in the log already are not logged again. Votes from before the last joust votes prune --votes are left out, because they may have been learned and deleted.",
    examples: [["Import a file", "joust votes import votes.jsonl"]],
  })
    .argument("<file>", 'jsonl or jsonl.gz: {"at","query"|"x","a","b","outcome","voter"?}')
    .option("--encoder <name>", `${ENCODER_HELP} (default: that of the router)`)
    .option(
      "--allow-unknown",
      "also log votes on models that the router does not have; it does not learn from them",
    );
  return withRouterFlags(withModelsFlag(command)).action(
    async (file: string, flags: ImportFlags) => {
      await withStore(flags, (store) => runImport(store, file, flags), "create");
    },
  );
}

async function runImport(store: Store, file: string, flags: ImportFlags): Promise<void> {
  const { openRouterEncoder } = await import("../votes/router-encoder.ts");
  const { importVotes } = await import("../../learner/import-votes.ts");
  const { router = DEFAULT_ROUTER } = flags;
  const places = encoderPlaces(flags.models);
  const { encoder, name, known } = await openRouterEncoder(store, router, flags.encoder, places);
  try {
    const { votes, repeated, tooOld, unknown } = await withProgress((show) =>
      importVotes(store, router, file, {
        encode: (texts) => encoder.encode(texts),
        encoder: name,
        dimension: encoder.dimension,
        time: Date.now,
        onProgress: (count) => show(`${count} votes imported`),
        known,
        allowUnknown: flags.allowUnknown,
      }),
    );
    const again = repeated > 0 ? `; ${repeated} were in the log already` : "";
    const old =
      tooOld > 0
        ? `; left out ${tooOld} from before the last prune, which may be learned already`
        : "";
    process.stdout.write(
      `imported ${plural(votes, "vote")} for the router ${router}${again}${old}\n`,
    );
    if (unknown) {
      process.stderr.write(
        `joust: ${plural(unknown.votes, "vote")} on models that the router does not have will not be learned: ${unknown.models.join(", ")}\n`,
      );
    }
  } finally {
    await encoder.close();
  }
}

interface ExportFlags extends StoreFlags {
  readonly out?: string | undefined;
}

function exportCommand(): Command {
  const command = newCommand({
    name: "export",
    summary: "print the votes that count, one per line",
    description:
      "Prints the votes that count, without votes that were rolled back. A line contains the query if prompts are stored, otherwise its embedding.",
    examples: [["Write a file", "joust votes export --out votes.jsonl"]],
  }).option("--out <file>", "file to write (default: standard output)");
  return withRouterFlags(command).action(async (flags: ExportFlags) => {
    const { exportVotes } = await import("../../learner/export-votes.ts");
    const key = storeKey(process.env);
    let undecrypted = 0;
    await withRouter(flags, (store, router) =>
      writeLines(
        exportVotes(store, router, key, () => undecrypted++),
        flags.out,
      ),
    );
    if (undecrypted > 0) {
      process.stderr.write(
        `joust: the prompts of ${plural(undecrypted, "vote")} are encrypted, so their embeddings were written\nhint: set JOUST_STORE_KEY to the key that encrypted them\n`,
      );
    }
  });
}

/** Writes lines to a file or, without one, to standard output. */
async function writeLines(lines: AsyncIterable<string>, file: string | undefined): Promise<void> {
  const out = file === undefined ? process.stdout : createWriteStream(file);
  const ended = async function* () {
    for await (const line of lines) yield `${line}\n`;
  };
  await pipeline(ended, out, { end: out !== process.stdout }).catch((error: unknown) => {
    if (file === undefined) throw error;
    if (codeOf(error) !== "ENOENT") throw writeError(file, error);
    const problem = "cannot be written, because its folder does not exist";
    throw new InputError({ file }, problem, "create the folder, or choose another one");
  });
}

function freezeCommand(): Command {
  const command = newCommand({
    name: "freeze",
    summary: "pause learning",
    description: "Pauses learning. Votes are still logged, and thaw decides whether they count.",
    examples: [["Pause learning", "joust votes freeze"]],
  });
  return withRouterFlags(command).action((flags: StoreFlags) =>
    printing(flags, async (store, router) => {
      await freeze(store, router, Date.now());
      await recordChange(store, { action: "router.freeze", target: router });
      return `${router} is frozen: votes are logged, but not learned until a thaw`;
    }),
  );
}

function thawCommand(): Command {
  const command = newCommand({
    name: "thaw",
    summary: "resume learning",
    description:
      "Resumes learning, and learns the votes that were logged during the freeze unless --drop is given.",
    examples: [
      ["Resume learning, with the votes of the freeze", "joust votes thaw"],
      ["Resume learning without them", "joust votes thaw --drop"],
    ],
  }).option("--drop", "never learn the votes that were logged during the freeze");
  return withRouterFlags(command).action((flags: StoreFlags & { readonly drop?: boolean }) =>
    printing(flags, async (store, router) => {
      const learn = !flags.drop;
      await thaw(store, router, Date.now(), learn);
      await recordChange(store, { action: "router.thaw", target: router, after: { learn } });
      return `${router} learns again${flags.drop ? "; the votes of the freeze do not count" : ""}`;
    }),
  );
}

function rollBackCommand(): Command {
  const command = newCommand({
    name: "roll-back",
    summary: "undo everything learned after a time or position",
    description:
      "Undoes everything that was learned from votes after a time, permanently. Votes logged at or before that time are never undone. If a clock was wrong, name the position of the last vote that counts; GET /v1/decisions shows the position of each vote.",
    examples: [
      ["Undo the votes since noon", "joust votes roll-back --to 2026-11-15T12:00:00Z"],
      ["Undo the votes after one of them", "joust votes roll-back --position 1234"],
    ],
  })
    .option("--to <time>", "time of the last votes that count", time("--to"))
    .option(
      "--position <n>",
      "position of the last vote that counts",
      number("--position", { from: 0, whole: true, example: 1234 }),
    );
  return withRouterFlags(command).action((flags: RollBackFlags) => {
    const target = targetOf(flags);
    return printing(flags, async (store, router) => {
      const count = await rollBack(store, router, target, Date.now());
      const to = "time" in target ? { to: new Date(target.time).toISOString() } : target;
      const after = { ...to, undone: count };
      await recordChange(store, { action: "router.rollback", target: router, after });
      return `${router} is rolled back: ${noLongerCount(count)}`;
    });
  });
}

interface RollBackFlags extends StoreFlags {
  readonly to?: number | undefined;
  readonly position?: number | undefined;
}

function targetOf({ to, position }: RollBackFlags): RollbackTarget {
  if (to !== undefined && position === undefined) return { time: to };
  if (position !== undefined && to === undefined) return { position };
  const problem = to === undefined ? "is missing" : "is given together with --position";
  throw new InputError({ file: "--to" }, problem, "give either --to TIME or --position N");
}

function votersCommand(): Command {
  const command = newCommand({
    name: "voters",
    summary: "list the voters with their votes and weights",
    description:
      "Lists everybody who has voted on answers of the router, also voters who are excluded: number of votes (counted up to 10,000), time of the last vote, and weight. All votes without a name are one entry.",
    examples: [["List the voters", "joust votes voters"]],
  }).option("--json", 'print JSON; the votes without a name have the name ""');
  return withRouterFlags(command).action(
    async (flags: StoreFlags & { readonly json?: boolean }) => {
      const voters = await withRouter(flags, listVoters);
      process.stdout.write(
        flags.json
          ? `${JSON.stringify(voters, null, 2)}\n`
          : voters.map(voterLine).join("") || "no voters\n",
      );
    },
  );
}

const VOTER_HELP = 'name of the voter as "votes voters" lists it; "" for the votes without a name';

function weighCommand(): Command {
  const command = newCommand({
    name: "weigh",
    summary: "exclude a voter from learning, or set a weight",
    description:
      "Sets the weight of all votes of one voter, earlier and later ones, and learns again with it. The votes stay in the log. With the weight 1, what was learned from them returns exactly.",
    examples: [
      ["Learn nothing from a person", "joust votes weigh key_1234/ann 0"],
      ["Learn from the person again", "joust votes weigh key_1234/ann 1"],
    ],
  })
    .argument("<voter>", VOTER_HELP)
    .argument("<weight>", "0 (excluded) to 1 (the default)", (text: string) =>
      readNumber("weight", text, { from: 0, to: 1, example: "joust votes weigh key_1234/ann 0.5" }),
    );
  return withRouterFlags(command).action((voter: string, weight: number, flags: StoreFlags) =>
    printing(flags, async (store, router) => {
      const { before, position } = await weigh(store, router, { voter, weight }, Date.now());
      const [name, has] = voter === "" ? [UNNAMED, "have"] : [voter, "has"];
      if (position === undefined) return `${name} already ${has} the weight ${weight}`;
      // The record names the event instead of the voter, so that the voter can be forgotten.
      await recordChange(store, {
        action: WEIGHING,
        target: router,
        before: { weight: before },
        after: { weight, position },
      });
      return `${name} ${has} the weight ${weight} instead of ${before}`;
    }),
  );
}

function forgetCommand(): Command {
  const command = newCommand({
    name: "forget",
    summary: "erase the votes of a voter and everything learned from them",
    description:
      "Erases the earlier votes of one voter from the database, with the name and the embeddings, and learns again from all other votes. This cannot be undone. Backups and exported files keep the votes: delete them, or forget the voter again after restoring one.",
    examples: [["Erase all votes of a person", "joust votes forget key_1234/ann"]],
  }).argument("<voter>", VOTER_HELP);
  return withRouterFlags(command).action((voter: string, flags: StoreFlags) =>
    printing(flags, async (store, router) => {
      const count = await forget(store, router, voter, Date.now(), (forgotten) =>
        recordChange(store, { action: "router.forget", target: router, after: { forgotten } }),
      );
      const subject = voter === "" ? `${UNNAMED} are` : `${voter} is`;
      return `${subject} forgotten: ${noLongerCount(count)}`;
    }),
  );
}

function noLongerCount(count: number): string {
  return `${plural(count, "vote")} no longer ${count === 1 ? "counts" : "count"}`;
}

interface PruneFlags extends StoreFlags {
  readonly before: number;
  readonly votes?: boolean | undefined;
  readonly policy?: string | undefined;
}

function pruneCommand(): Command {
  const command = newCommand({
    name: "prune",
    summary: "delete decisions and prompts older than a time",
    description:
      "Deletes the decisions, answers and prompts of all routers, for all days (UTC) that ended before a time. Charts and everything learned are kept. With --votes it also deletes the votes of the router, up to the last snapshot before that time that learning can continue from. Afterwards no rollback can go further back, voters of deleted votes cannot be forgotten, and another policy learns only from later votes.",
    examples: [
      ["Delete old decisions and prompts", "joust votes prune --before 2026-01-01"],
      ["Delete old votes too", "joust votes prune --before 2026-01-01 --votes"],
    ],
  })
    .requiredOption("--before <time>", "delete what is older than this", time("--before"))
    .option("--votes", "delete votes too")
    .option("--policy <file>", "file of the router's policy, if it has one of its own");
  return withRouterFlags(command).action((flags: PruneFlags) =>
    printing(flags, async (store, router) => {
      const { policiesOf } = await import("../replay/replay.ts");
      const { findPolicy } = await policiesOf(flags.policy);
      const options = { before: flags.before, votes: flags.votes ?? false, findPolicy };
      const { decisions, votes } = await prune(store, router, options);
      return `deleted ${plural(decisions, "decision")} with their answers and prompts, ${plural(votes, "vote")}`;
    }),
  );
}

/** Changes the log of a router and prints the line that `change` returns. */
async function printing(
  flags: StoreFlags,
  change: (store: Store, router: string) => Promise<string>,
): Promise<void> {
  process.stdout.write(`${await withRouter(flags, change)}\n`);
}
