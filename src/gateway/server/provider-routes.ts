import {
  CatalogList,
  CatalogQuery,
  ProviderList,
  ProviderTest,
  SetupRequest,
  SetupResult,
  TestRequest,
} from "../../api/providers.ts";
import type { Administration } from "../administration/administration.ts";
import type { JsonObject } from "../administration/secrets.ts";
import { providerOfKey, setupChanges } from "../administration/setup.ts";
import { type TrialOptions, tryProvider } from "../administration/trial.ts";
import { openCatalog } from "../providers/catalog/catalog.ts";
import { KNOWN } from "../providers/known-providers.ts";
import { providersIn } from "../providers/providers.ts";
import { type App, contract } from "./app.ts";

export interface ProviderParts {
  readonly administration: Administration;
  readonly trial: TrialOptions;
}

/** Adds the endpoints that list, test and set up providers. */
export function addProviderRoutes(app: App, { administration, trial }: ProviderParts): void {
  app.get(
    "/v1/admin/providers",
    contract({ summary: "Lists the known providers.", scope: "admin", response: ProviderList }),
    () => {
      const inUse = new Set(providersIn(trial.env).map(({ name }) => name));
      const data = KNOWN.map(({ name, url, isLocal, settings = {}, models }) => ({
        name,
        url,
        in_environment: inUse.has(name),
        is_local: isLocal === true,
        settings: Object.keys(settings),
        models: models === "listed" ? [] : models,
      }));
      return { object: "list" as const, data };
    },
  );
  app.get(
    "/v1/admin/catalog",
    contract({
      summary: "Lists the models of a known provider with their prices and capabilities.",
      scope: "admin",
      querystring: CatalogQuery,
      response: CatalogList,
    }),
    async ({ query: { provider } }) => {
      const catalog = await openCatalog(trial.catalog);
      const data = catalog.modelsOf(provider).map((model) => ({
        model,
        price: catalog.price(provider, model),
        capabilities: catalog.facts(provider, model).capabilities,
      }));
      return { object: "list" as const, data };
    },
  );
  app.post(
    "/v1/admin/providers/test",
    contract({
      summary: "Sends a short request to models of a provider and reports what failed.",
      scope: "admin",
      body: TestRequest,
      response: ProviderTest,
    }),
    async ({ caller, body: { name, value, models } }) => {
      const entry = await administration.entryForTest(
        caller,
        name,
        value as JsonObject | undefined,
      );
      return tryProvider(trial, await openCatalog(trial.catalog), name, entry, models);
    },
  );
  app.post(
    "/v1/admin/setup",
    contract({
      summary: "Adds a provider by its key, with those of its default models that answer.",
      scope: "admin",
      body: SetupRequest,
      response: SetupResult,
      errors: [409],
    }),
    async ({ caller, body }) => {
      const key = body.key.trim();
      const provider = providerOfKey(key, body.provider);
      const { document } = administration.exported();
      const value = { ...(document.providers[provider] as JsonObject | undefined), key };
      const entry = await administration.entryForTest(caller, provider, value);
      const catalog = await openCatalog(trial.catalog);
      const test = await tryProvider(trial, catalog, provider, entry);
      const changes = test.ok ? setupChanges(document, provider, key, test) : [];
      if (test.ok) await administration.change(caller, body.based_on, changes, "setup");
      const models = changes.flatMap(({ section, name }) => (section === "models" ? [name] : []));
      return { object: "setup" as const, test, models, configuration: administration.shown() };
    },
  );
}
