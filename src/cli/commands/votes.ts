/** `joust votes`: a live log in and out, and what can be undone in it. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { Command } from "commander";
import { openEncoderOrBundle } from "../../core/calibrate/bundle-encoder.ts";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { DEFAULT_ENCODER } from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import { plural } from "../../lab/report/words.ts";
import { forget, freeze, rollBack, thaw } from "../../learner/controls.ts";
import { loggedEncoderName } from "../../learner/encoder-name.ts";
import { exportVotes } from "../../learner/export-votes.ts";
import { importVotes } from "../../learner/import-votes.ts";
import { prune } from "../../learner/prune.ts";
import type { Store } from "../../store/store.ts";
import { ENCODER_HELP } from "../shared/encoder-flags.ts";
import { folder } from "../shared/flags.ts";
import { JOUST } from "../shared/invocation.ts";
import { statusLine } from "../shared/status-line.ts";
import {
  DEFAULT_ROUTER,
  moment,
  routerOf,
  type StoreFlags,
  withStore,
  withStoreFlags,
} from "../shared/store-flags.ts";
import { storeKey } from "../shared/store-key.ts";

export function votesCommand(): Command {
  const command = new Command("votes")
    .description(
      "Reads and writes the log of a router, also while it is served: its learner notices within a second.",
    )
    .helpOption("-h, --help", "this text")
    .addHelpText("after", AFTER);
  for (const one of [
    importCommand(),
    exportCommand(),
    freezeCommand(),
    thawCommand(),
    rollBackCommand(),
    forgetCommand(),
    pruneCommand(),
  ]) {
    command.addCommand(one.helpOption("-h, --help", "this text"));
  }
  return command;
}

const AFTER = `
A line of a file of votes:
  {"at": "2026-11-15T12:00:00Z", "query": "Why?", "a": "gpt-4", "b": "yi-34b", "outcome": "a", "voter": "ann"}
Examples:
  Votes collected elsewhere, before the first start or later; the same file twice changes nothing:
    ${JOUST} votes import votes.jsonl --data joust-data
  All votes that count, with the prompts where they were stored (JOUST_STORE_KEY decrypts them):
    ${JOUST} votes export > votes.jsonl
  Nobody needs to see what was asked last year, and what it has taught is kept:
    ${JOUST} votes prune --before 2026-01-01
  A spammer was at it since noon:
    ${JOUST} votes roll-back --to 2026-11-15T12:00:00Z
    ${JOUST} votes forget mallory
`;

interface ImportFlags extends StoreFlags {
  readonly encoder?: string | undefined;
  readonly models?: string | undefined;
}

function importCommand(): Command {
  return withStoreFlags(new Command("import"))
    .summary("log the votes of a file")
    .description("Logs the votes of a file. All of it is checked before the first vote is logged.")
    .argument("<file>", 'jsonl or jsonl.gz: {"at","query"|"x","a","b","outcome","voter"?}')
    .option("--encoder <name>", `${ENCODER_HELP} (default: the router's)`)
    .option("--models <dir>", "a folder of model folders to look in first", folder("--models"))
    .action(async (file: string, flags: ImportFlags) => {
      await withStore(flags, (store) => runImport(store, file, flags), "create");
    });
}

async function runImport(store: Store, file: string, flags: ImportFlags): Promise<void> {
  const { router = DEFAULT_ROUTER } = flags;
  const controls = await store.controls(router);
  const configured = controls.findLast((event) => event.kind === "configured");
  // As it is logged: name@identity.
  const reference = flags.encoder ?? configured?.encoder.split("@")[0] ?? DEFAULT_ENCODER;
  const { encoder } = await openEncoderOrBundle(reference, encoderPlaces(flags.models));
  const status = statusLine(process.stderr);
  try {
    const name = loggedEncoderName(encoder);
    if (configured && configured.encoder !== name) {
      throw new InputError(
        { file: "--encoder" },
        `is ${name}, the router's is ${configured.encoder}`,
        "give the encoder or the bundle that the router is served with",
      );
    }
    const { votes, repeated } = await importVotes(store, router, file, {
      encode: (texts) => encoder.encode(texts),
      encoder: name,
      dimension: encoder.dimension,
      time: Date.now,
      onProgress: (count) => status?.show(`${count} votes`),
    });
    status?.clear();
    const again = repeated > 0 ? `; ${repeated} were there already` : "";
    process.stdout.write(`${plural(votes, "vote")} imported for the router ${router}${again}\n`);
  } finally {
    status?.clear();
    await encoder.close();
  }
}

interface ExportFlags extends StoreFlags {
  readonly out?: string | undefined;
}

function exportCommand(): Command {
  return withStoreFlags(new Command("export"))
    .summary("print the votes that count, one a line")
    .description(
      "Prints the votes that count: not those rolled back, and not those of forgotten voters. With the query where prompts are stored, else with its vector.",
    )
    .option("--out <file>", "write there, not to stdout")
    .action(async (flags: ExportFlags) => {
      const key = storeKey(process.env);
      const out = flags.out === undefined ? process.stdout : createWriteStream(flags.out);
      await withStore(flags, async (store) => {
        const router = await routerOf(store, flags.router);
        let unread = 0;
        const lines = exportVotes(store, router, key, () => unread++);
        for await (const line of lines) if (!out.write(`${line}\n`)) await once(out, "drain");
        if (unread > 0) {
          process.stderr.write(
            `joust: the prompts of ${unread} votes are encrypted, so their vectors were written.\nhint: set JOUST_STORE_KEY to the key that they were stored with\n`,
          );
        }
      });
      if (out !== process.stdout) {
        out.end();
        await once(out, "finish");
      }
    });
}

interface ControlFlags extends StoreFlags {
  readonly drop?: boolean | undefined;
  readonly to?: number | undefined;
  readonly before?: number | undefined;
  readonly votes?: boolean | undefined;
}

/** A command that changes one thing and says so. */
function control(
  name: string,
  summary: string,
  run: (store: Store, router: string, flags: ControlFlags) => Promise<string>,
): Command {
  return withStoreFlags(new Command(name))
    .summary(summary)
    .description(`${summary}.`)
    .action(async (flags: ControlFlags) => {
      const said = await withStore(flags, async (store) =>
        run(store, await routerOf(store, flags.router), flags),
      );
      process.stdout.write(`${said}\n`);
    });
}

function freezeCommand(): Command {
  return control("freeze", "keep votes from now on, but learn nothing", async (store, router) => {
    await freeze(store, router, Date.now());
    return `${router} is frozen: votes are kept until it is thawed`;
  });
}

function thawCommand(): Command {
  return control(
    "thaw",
    "learn again, also from the votes kept meanwhile",
    async (store, router, flags) => {
      const learn = !flags.drop;
      await thaw(store, router, Date.now(), learn);
      return `${router} learns again${learn ? "" : "; the votes kept meanwhile never count"}`;
    },
  ).option("--drop", "not from the votes kept meanwhile");
}

function rollBackCommand(): Command {
  return control(
    "roll-back",
    "undo what votes have taught after a time",
    async (store, router, flags) => {
      const count = await rollBack(store, router, flags.to!, Date.now());
      return `${router} is rolled back: ${noLonger(count)}`;
    },
  ).requiredOption("--to <time>", "the last moment whose votes count", moment("--to"));
}

function pruneCommand(): Command {
  return control("prune", "delete what was logged before a time", async (store, router, flags) => {
    const deleted = await prune(store, router, flags.before!, flags.votes ?? false);
    const { decisions, prompts, votes } = deleted;
    return `deleted: ${plural(decisions, "decision")} and what was answered, ${plural(prompts, "prompt")}, ${plural(votes, "vote")}`;
  })
    .description(
      "Deletes decisions, answers and prompts of all routers logged before a time; charts and what was learnt stay. With --votes also the router's votes, as far as a snapshot holds what they have taught: then nothing before it can be rolled back or forgotten, and another policy learns from later votes alone.",
    )
    .requiredOption("--before <time>", "delete what is older", moment("--before"))
    .option("--votes", "votes too");
}

function forgetCommand(): Command {
  return withStoreFlags(new Command("forget"))
    .summary("learn anew without a voter's votes so far")
    .description("Learns anew from all votes but those of one voter. It cannot be undone.")
    .argument("<voter>", "as votes export names it")
    .action(async (voter: string, flags: StoreFlags) => {
      const count = await withStore(flags, async (store) =>
        forget(store, await routerOf(store, flags.router), voter, Date.now()),
      );
      process.stdout.write(`${voter} is forgotten: ${noLonger(count)}\n`);
    });
}

function noLonger(count: number): string {
  return `${plural(count, "vote")} no longer ${count === 1 ? "counts" : "count"}`;
}
