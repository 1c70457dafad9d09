import { join } from "node:path";
import type { Command } from "commander";
import { PACKAGE_ROOT } from "../../core/input/project.ts";
import { newCommand } from "../shared/command.ts";
import { folder } from "../shared/flags.ts";
import { DEFAULT_DATA } from "../shared/store-flags.ts";

interface CatalogFlags {
  readonly data: string;
  readonly models?: string | undefined;
  readonly prices?: string | undefined;
  readonly provider?: string | undefined;
  readonly json?: boolean | undefined;
}

const EXAMPLES = [
  ["Download current prices and capabilities", "joust catalog update"],
  ["Show what is known about a model", "joust catalog show claude-haiku-4-5"],
] as const;

/** The commands of the catalog, which holds prices, capabilities and limits of models. */
export function catalogCommand(): Command {
  return newCommand({
    name: "catalog",
    summary: "update and show prices and capabilities of models",
    description:
      "The catalog holds what Joust knows about models: list prices from genai-prices; context, longest answer, features and parameters from models.dev. Joust includes a copy of both. The configuration overrides the catalog.",
    examples: EXAMPLES,
  })
    .helpCommand(false)
    .addCommand(updateCommand())
    .addCommand(showCommand());
}

function updateCommand(): Command {
  return newCommand({
    name: "update",
    summary: "download current prices and capabilities",
    description:
      "Downloads both sources and writes them to the folder catalog of the data folder. A gateway uses them from its next start or reload (SIGHUP). If a source cannot be read, nothing changes.",
    examples: [
      ["Download from the public addresses", "joust catalog update"],
      [
        "Download from copies",
        "joust catalog update --models https://mirror.example.org/api.json --prices https://mirror.example.org/data.json",
      ],
    ],
    notes:
      "Environment:\n  JOUST_CATALOG_BASE  address of a server with api.json (models.dev) and data.json (genai-prices)",
  })
    .option("--data <dir>", "data folder of joust serve", folder("--data"), DEFAULT_DATA)
    .option("--models <url>", "address of models.dev's api.json, or of a copy")
    .option("--prices <url>", "address of genai-prices' data.json, or of a copy")
    .option("--json", "print JSON")
    .action(async ({ data, models, prices, json }: CatalogFlags) => {
      const { CATALOG_ADDRESSES, updateCatalog } = await import(
        "../../gateway/providers/catalog/update.ts"
      );
      const base = process.env.JOUST_CATALOG_BASE?.replace(/\/+$/, "");
      const own = base ? { models: `${base}/api.json`, prices: `${base}/data.json` } : {};
      const given = { ...(models && { models }), ...(prices && { prices }) };
      const addresses = { ...CATALOG_ADDRESSES, ...own, ...given };
      const updated = await updateCatalog(addresses, join(data, "catalog"), new Date());
      const line = (name: "models" | "prices") =>
        `  ${name}  ${updated[name].date}  ${updated[name].count} models in ${updated[name].file}\n`;
      process.stdout.write(
        json
          ? `${JSON.stringify(updated)}\n`
          : `The catalog was updated:\n${line("models")}${line("prices")}`,
      );
    });
}

function showCommand(): Command {
  return newCommand({
    name: "show",
    summary: "show the dates of the catalog and what it knows about models",
    description: "Shows the dates of both sources and, for each model, price, limits and features.",
    examples: [["Show a model of a provider", "joust catalog show my-gpt --provider azure"]],
  })
    .argument("[models...]", "names of models")
    .option("--data <dir>", "data folder of joust serve", folder("--data"), DEFAULT_DATA)
    .option("--provider <name>", "known provider of the models")
    .option("--json", "print JSON")
    .action(async (names: readonly string[], { data, provider, json }: CatalogFlags) => {
      const { openCatalog } = await import("../../gateway/providers/catalog/catalog.ts");
      const places = {
        builtIn: join(PACKAGE_ROOT, "data", "catalog"),
        updated: join(data, "catalog"),
      };
      const catalog = await openCatalog(places);
      const models = names.map((model) => ({
        model,
        price: catalog.price(provider, model),
        ...catalog.facts(provider, model),
      }));
      const record = { models: catalog.models.date, prices: catalog.prices.date };
      const isKnown = ({ price, capabilities }: (typeof models)[number]) =>
        price !== undefined || Object.keys(capabilities).length > 0;
      const text = models
        .map((one) =>
          isKnown(one) ? `${JSON.stringify(one)}\n` : `${one.model}: is not in the catalog\n`,
        )
        .join("");
      process.stdout.write(
        json
          ? `${JSON.stringify({ dates: record, models })}\n`
          : `models of ${record.models}, prices of ${record.prices}\n${text}`,
      );
    });
}
