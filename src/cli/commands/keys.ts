/** `joust keys`: who may use the gateway. */
import { Command } from "commander";
import { InputError } from "../../core/input/input-error.ts";
import { addKey, revokeKey, setBudget, shownKey } from "../../gateway/access/keys.ts";
import { SCOPES, type Scope } from "../../gateway/config/scopes.ts";
import type { Store, StoredKey } from "../../store/store.ts";
import { monthOf } from "../../store/tally.ts";
import { names, number, word } from "../shared/flags.ts";
import { JOUST } from "../shared/invocation.ts";
import { type StoreFlags, withStore, withStoreFlags } from "../shared/store-flags.ts";

export function keysCommand(): Command {
  const command = new Command("keys")
    .description(
      "Keys of the gateway, kept by their hash. Without one it serves this machine alone; from the first\none on every request needs one. A gateway that runs notices changes within seconds.",
    )
    .helpOption("-h, --help", "this text")
    .addHelpText("after", AFTER);
  for (const one of [addCommand(), listCommand(), revokeCommand(), budgetCommand()]) {
    command.addCommand(one.helpOption("-h, --help", "this text"));
  }
  return command;
}

const AFTER = `
Scopes: route asks for answers and sees its own decisions, vote votes on them, admin does everything.
Examples:
  ${JOUST} keys add web-shop --budget 50 --rate 600
  ${JOUST} keys add ann --scopes route,vote,admin
  ${JOUST} keys list
  ${JOUST} keys budget web-shop 80
  ${JOUST} keys revoke web-shop
`;

interface AddFlags extends StoreFlags {
  readonly scopes?: string[];
  readonly budget?: number;
  readonly rate?: number;
  readonly duels?: "false" | "auto" | "true";
  readonly json?: boolean;
}

const DOLLARS = { from: 0.000001, example: 50 };

function addCommand(): Command {
  return withStoreFlags(new Command("add"))
    .summary("make a key; its secret is shown once")
    .argument("<name>", "whose it is")
    .option("--scopes <a,b>", "what it may do (default route,vote)", names("--scopes"))
    .option("--budget <usd>", "US dollars a calendar month", number("--budget", DOLLARS))
    .option("--rate <n>", "requests a minute", number("--rate", { from: 0.01, example: 600 }))
    .option(
      "--duels <mode>",
      "two answers where a request does not say: false, auto, true",
      word("--duels", ["false", "auto", "true"]),
    )
    .option("--json", "for machines")
    .action(async (name: string, flags: AddFlags) => {
      const { budget, rate, duels, json } = flags;
      const key = {
        name: checkName(name),
        scopes: scopesOf(flags.scopes ?? ["route", "vote"]),
        budget,
        rate,
        ...(duels !== undefined && { duels: duels === "auto" ? duels : duels === "true" }),
      };
      const made = await withStore(flags, (store) => addKey(store, key, Date.now()), "create");
      if (json) print({ ...shownKey(made.key), secret: made.secret });
      else {
        process.stdout.write(`${made.secret}\n`);
        process.stderr.write(`joust: ${name} is ${made.key.id}; the secret is not shown again\n`);
      }
    });
}

function listCommand(): Command {
  return withStoreFlags(new Command("list"))
    .summary("keys, what they may do and have spent")
    .option("--json", "for machines")
    .action(async (flags: StoreFlags & { readonly json?: boolean }) => {
      const rows = await withStore(flags, listed);
      if (flags.json) print(rows.map(({ key, spent }) => ({ ...shownKey(key), spent })));
      else process.stdout.write(rows.map(lineOf).join("") || "no keys\n");
    });
}

async function listed(store: Store): Promise<{ key: StoredKey; spent: number }[]> {
  const month = monthOf(Date.now());
  const keys = await store.keys();
  return Promise.all(keys.map(async (key) => ({ key, spent: await store.spent(key.id, month) })));
}

function lineOf({ key, spent }: { key: StoredKey; spent: number }): string {
  const { id, name, scopes, budget, rate, revokedAt } = key;
  const parts = [
    `${name} (${id}): ${scopes.join(", ")}`,
    `$${spent.toFixed(4)}${budget === undefined ? "" : ` of $${budget}`} this month`,
    ...(rate === undefined ? [] : [`${rate} requests a minute`]),
    ...(revokedAt === undefined ? [] : [`revoked ${new Date(revokedAt).toISOString()}`]),
  ];
  return `${parts.join("; ")}\n`;
}

function revokeCommand(): Command {
  return withStoreFlags(new Command("revoke"))
    .summary("take a key out of use")
    .argument("<name>", "its name or id")
    .action(async (name: string, flags: StoreFlags) => {
      const key = await withStore(flags, (store) => revokeKey(store, name, Date.now()));
      process.stdout.write(`${key.name} (${key.id}) is revoked\n`);
    });
}

function budgetCommand(): Command {
  return withStoreFlags(new Command("budget"))
    .summary("what a key may spend in a calendar month")
    .argument("<name>", "its name or id")
    .argument("[usd]", "US dollars; none: any amount", number("usd", DOLLARS))
    .action(async (name: string, usd: number | undefined, flags: StoreFlags) => {
      const key = await withStore(flags, (store) => setBudget(store, name, usd));
      const budget = key.budget === undefined ? "any amount" : `$${key.budget} a month`;
      process.stdout.write(`${key.name} (${key.id}) may spend ${budget}\n`);
    });
}

function checkName(name: string): string {
  if (/^[\w.:/@-]{1,100}$/.test(name)) return name;
  throw new InputError(
    { file: "keys add" },
    `"${name}" is no name`,
    "write letters, digits and . _ : / @ -",
  );
}

function scopesOf(given: readonly string[]): Scope[] {
  const read = word("--scopes", SCOPES);
  return given.map((scope) => read(scope));
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
