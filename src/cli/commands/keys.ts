import type { Command } from "commander";
import { SCOPES } from "../../api/scopes.ts";
import { InputError } from "../../core/input/input-error.ts";
import { addKey, changeKey, recordedKey, revokeKey, shownKey } from "../../gateway/access/keys.ts";
import type { StoredKey } from "../../store/key.ts";
import type { Store } from "../../store/store.ts";
import { monthOf } from "../../store/tally.ts";
import { recordChange } from "../shared/audit.ts";
import { newCommand } from "../shared/command.ts";
import { names, number, readNumber, word } from "../shared/flags.ts";
import { type StoreFlags, withStore, withStoreFlags } from "../shared/store-flags.ts";

export function keysCommand(): Command {
  return newCommand({
    name: "keys",
    summary: "manage the API keys of the gateway",
    description:
      "Manages the API keys of the gateway. Only hashes of the keys are stored. Without any key the gateway serves only this machine; as soon as there is one, every request needs a key. A running gateway notices changes within seconds.",
    examples: [
      [
        "Create a key with a monthly budget of 50 USD and 600 requests per minute",
        "joust keys add web-shop --budget 50 --rate 600",
      ],
      ["Create a key for an administrator", "joust keys add ann --scopes route,vote,admin"],
      ["Create a key for the dashboard", "joust keys add team --scopes route,metrics"],
      ["List the keys with their spending", "joust keys list"],
      [
        "Change a budget and the limit of concurrent requests, and revoke the key",
        "joust keys budget web-shop 80",
        "joust keys concurrent web-shop 20",
        "joust keys revoke web-shop",
      ],
    ],
    notes: `Scopes:
  route    send requests and read the decisions of this key
  vote     vote on the decisions of this key; such a key needs route too
  metrics  read the numbers of all keys (/metrics and the dashboard)
  admin    everything`,
  })
    .helpCommand("help [command]", "print the help of a command")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(budgetCommand())
    .addCommand(concurrentCommand())
    .addCommand(revokeCommand());
}

interface AddFlags extends StoreFlags {
  readonly scopes?: string[];
  readonly budget?: number;
  readonly rate?: number;
  readonly concurrent?: number;
  readonly duels?: "false" | "auto" | "true";
  readonly models?: string[];
  readonly routers?: string[];
  readonly json?: boolean;
}

const DOLLARS = { from: 0.000001, example: 50 };
const REQUESTS = { from: 1, whole: true, example: 20 };

function addCommand(): Command {
  const command = newCommand({
    name: "add",
    summary: "create a key and print its secret once",
    description:
      "Creates a key and prints its secret to standard output. The secret cannot be shown again.",
    examples: [
      ["Create a key with a monthly budget of 50 USD", "joust keys add web-shop --budget 50"],
    ],
  })
    .argument("<name>", "name of the key's owner")
    .option(
      "--scopes <a,b>",
      `scopes of the key: ${SCOPES.join(", ")} (default: route,vote)`,
      names("--scopes"),
    )
    .option(
      "--budget <usd>",
      "limit in US dollars per calendar month (default: none)",
      number("--budget", DOLLARS),
    )
    .option(
      "--rate <n>",
      "limit in requests per minute (default: server.rate of the configuration)",
      number("--rate", { from: 0.01, example: 600 }),
    )
    .option(
      "--concurrent <n>",
      "limit of concurrent requests on each node (default: server.concurrent of the configuration)",
      number("--concurrent", REQUESTS),
    )
    .option(
      "--duels <mode>",
      "whether requests that did not ask for a duel get a second answer to fetch: false, auto or true (default: the mode of the router)",
      word("--duels", ["false", "auto", "true"]),
    )
    .option(
      "--models <a,b>",
      "models that may answer requests of this key; the names are not checked (default: all)",
      names("--models"),
    )
    .option(
      "--routers <a,b>",
      "routers that requests of this key may name; the names are not checked (default: all)",
      names("--routers"),
    )
    .option("--json", "print JSON");
  return withStoreFlags(command).action(async (name: string, flags: AddFlags) => {
    const { scopes = ["route", "vote"], budget, rate, concurrent, duels, json } = flags;
    const { models, routers } = flags;
    const key = {
      name: checkName(name),
      scopes: scopes.map(word("--scopes", SCOPES)),
      budget,
      rate,
      concurrent,
      ...(duels !== undefined && { duels: duels === "auto" ? duels : duels === "true" }),
      ...(models && { models }),
      ...(routers && { routers }),
    };
    const { hasAdmin, ...added } = await withStore(
      flags,
      async (store) => {
        const created = await addKey(store, key, Date.now());
        const after = recordedKey(created.key);
        await recordChange(store, { action: "key.add", target: key.name, after });
        const active = (await store.keys()).filter(({ revokedAt }) => revokedAt === undefined);
        return { ...created, hasAdmin: active.some((one) => one.scopes.includes("admin")) };
      },
      "create",
    );
    if (json) print({ ...shownKey(added.key), secret: added.secret });
    else {
      process.stdout.write(`${added.secret}\n`);
      process.stderr.write(
        `joust: created the key ${added.key.id} for ${name}; its secret will not be shown again\n`,
      );
    }
    if (!hasAdmin) process.stderr.write(NO_ADMIN);
  });
}

/** Warning after a key was created while none has the scope admin. */
const NO_ADMIN = `joust: warning: from now on every request needs a key, and no key in the store has the scope admin, so nobody can use the pages under Admin or their endpoints
hint: create a key for an administrator: npx joust keys add NAME --scopes admin,route,vote
`;

function listCommand(): Command {
  const command = newCommand({
    name: "list",
    summary: "list the keys with scopes and spending",
    description: "Lists all keys with their scopes, limits and spending in this month.",
    examples: [["List the keys", "joust keys list"]],
  }).option("--json", "print JSON");
  return withStoreFlags(command).action(async (flags: StoreFlags & { readonly json?: boolean }) => {
    const rows = await withStore(flags, keysWithSpending);
    if (flags.json) print(rows.map(({ key, spent }) => ({ ...shownKey(key), spent })));
    else process.stdout.write(rows.map(keyLine).join("") || "no keys\n");
  });
}

async function keysWithSpending(store: Store): Promise<{ key: StoredKey; spent: number }[]> {
  const month = monthOf(Date.now());
  const keys = await store.keys();
  return Promise.all(keys.map(async (key) => ({ key, spent: await store.spent(key.id, month) })));
}

function keyLine({ key, spent }: { key: StoredKey; spent: number }): string {
  const { id, name, scopes, budget, rate, concurrent, duels, models, routers, revokedAt } = key;
  const parts = [
    `${name} (${id}): ${scopes.join(", ")}`,
    `$${spent.toFixed(4)}${budget === undefined ? "" : ` of $${budget}`} this month`,
    ...(rate === undefined ? [] : [`${rate} requests per minute`]),
    ...(concurrent === undefined ? [] : [`${concurrent} concurrent requests`]),
    ...(duels === undefined ? [] : [`duels ${duels}`]),
    ...(models ? [`models ${models.join(", ")}`] : []),
    ...(routers ? [`routers ${routers.join(", ")}`] : []),
    ...(revokedAt === undefined ? [] : [`revoked ${new Date(revokedAt).toISOString()}`]),
  ];
  return `${parts.join("; ")}\n`;
}

function budgetCommand(): Command {
  const command = newCommand({
    name: "budget",
    summary: "change the monthly budget of a key",
    description: "Sets the amount that a key may spend per calendar month.",
    examples: [["Allow 80 USD per month", "joust keys budget web-shop 80"]],
  })
    .argument("<name>", "name or id of the key")
    .argument("[usd]", "US dollars per calendar month (default: no limit)", (text) =>
      readNumber("USD", text, { ...DOLLARS, example: "npx joust keys budget NAME 50" }),
    );
  return withStoreFlags(command).action(
    async (name: string, usd: number | undefined, flags: StoreFlags) => {
      const key = await changed(flags, name, { budget: usd ?? null });
      const budget =
        key.budget === undefined ? "without a limit" : `up to $${key.budget} per month`;
      process.stdout.write(`${key.name} (${key.id}) may spend ${budget}\n`);
    },
  );
}

function concurrentCommand(): Command {
  const command = newCommand({
    name: "concurrent",
    summary: "change the limit of concurrent requests of a key",
    description: "Sets how many requests of a key each node serves concurrently.",
    examples: [["Allow 20 concurrent requests", "joust keys concurrent web-shop 20"]],
  })
    .argument("<name>", "name or id of the key")
    .argument(
      "[n]",
      "number of requests (default: server.concurrent of the configuration)",
      (text) =>
        readNumber("N", text, { ...REQUESTS, example: "npx joust keys concurrent NAME 20" }),
    );
  return withStoreFlags(command).action(
    async (name: string, n: number | undefined, flags: StoreFlags) => {
      const key = await changed(flags, name, { concurrent: n ?? null });
      const limit = key.concurrent ?? "server.concurrent";
      process.stdout.write(`${key.name} (${key.id}) may send up to ${limit} concurrent requests\n`);
    },
  );
}

/** Changes limits of a key, and returns the key with them. */
function changed(
  flags: StoreFlags,
  name: string,
  limits: Parameters<typeof changeKey>[2],
): Promise<StoredKey> {
  return withStore(flags, async (store) => {
    const { before, after } = await changeKey(store, name, limits);
    if (after !== before) {
      await recordChange(store, {
        action: "key.change",
        target: after.name,
        before: recordedKey(before),
        after: recordedKey(after),
      });
    }
    return after;
  });
}

function revokeCommand(): Command {
  const command = newCommand({
    name: "revoke",
    summary: "revoke a key",
    description: "Revokes a key. Requests with it are refused from then on.",
    examples: [["Revoke a key", "joust keys revoke web-shop"]],
  }).argument("<name>", "name or id of the key");
  return withStoreFlags(command).action(async (name: string, flags: StoreFlags) => {
    const key = await withStore(flags, async (store) => {
      const revoked = await revokeKey(store, name, Date.now());
      await recordChange(store, { action: "key.revoke", target: revoked.name });
      return revoked;
    });
    process.stdout.write(`${key.name} (${key.id}) is revoked\n`);
  });
}

function checkName(name: string): string {
  if (/^[\w.:/@-]{1,100}$/.test(name)) return name;
  throw new InputError(
    { file: "keys add" },
    `"${name}" is not a valid name`,
    "use 1 to 100 letters, digits and . _ : / @ -",
  );
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
