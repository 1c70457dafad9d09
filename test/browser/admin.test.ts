import { readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { cutOff, SCREENS, seriousViolations } from "./accessibility.fixture.ts";
import { ask, canVote, suggestions } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";
import { FakeProvider } from "./provider.fixture.ts";

const SECTIONS = {
  providers: "Providers",
  models: "Models",
  routers: "Routers",
  keys: "Keys",
  learning: "Voters and metrics",
  system: "System",
  history: "History",
} as const;

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name, exact: true });
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

describeInChromium("administration in the store", ({ open, context }) => {
  const provider = new FakeProvider();
  const gateway = serve("store", undefined, () => ({ OPENAI_BASE_URL: provider.url }));
  const visit = (section: keyof typeof SECTIONS) => open(`${gateway.url}/#/admin/${section}`);

  it("leads from a key in the clipboard to a routed answer, without editing a file", async () => {
    const page = await open(gateway.url);
    await page.getByRole("link", { name: "Paste a provider key" }).click();
    await page.getByLabel("Provider key").fill("sk-proj-wrong");
    await button(page, "Test and use this key").click();
    await page
      .getByText(/^Key: the provider refused the key .* valid at 127\.0\.0\.1:\d+$/)
      .waitFor();
    await page.getByLabel("Provider key").fill("0123456789");
    await button(page, "Test and use this key").click();
    await page.getByText(/^The provider of this key cannot be recognised from its form/).waitFor();
    await page.getByLabel("Provider key").fill(provider.key);
    await button(page, "Test and use this key").click();
    await page.getByRole("heading", { name: "3 models are served" }).waitFor();
    await page.getByRole("link", { name: "Ask a question" }).click();
    await suggestions(page).first().click();
    await canVote(page);
    await page.getByText("Hello from").first().waitFor();
    expect(await page.getByRole("region", { name: "First start" }).count()).toBe(0);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(provider.key);
  });

  it("replaces a provider's key after a test that says what failed", async () => {
    const page = await visit("providers");
    await button(page, "Replace the key").click();
    await page.getByLabel("New key of openai").fill("sk-proj-other-key-0123456789");
    await button(page, "Test").first().click();
    await page.getByText(/^Key: the provider refused the key/).waitFor();
    provider.key = "sk-proj-other-key-0123456789";
    await button(page, "Save the new key").click();
    await page.getByLabel("New key of openai").waitFor({ state: "detached" });
    await button(page, "Test").first().click();
    await page.getByText("Key: the provider accepts the key").waitFor();
  });

  it("a provider that fails is shown, and the question can be asked again", async () => {
    const page = await open(gateway.url);
    const { key } = provider;
    provider.key = "sk-proj-revoked";
    await ask(page, "Why is the sea salty?");
    await page.getByText("Incomplete.").waitFor();
    provider.key = key;
    await button(page, "Ask again").click();
    await canVote(page);
    await page.getByText("Hello from").first().waitFor();
  });

  it("adds another provider with the models that answered", async () => {
    const page = await visit("providers");
    await page.getByLabel("Kind").selectOption("another provider");
    await page.getByLabel("Name", { exact: true }).fill("house");
    await page.getByLabel("Address").fill("http://127.0.0.1:9/v1");
    await page.getByLabel("Key", { exact: true }).fill(provider.key);
    await page.getByLabel("Models", { exact: true }).fill("llama-3");
    await button(page, "Test").last().click();
    await page.getByText(/^Address: .*check the address/).waitFor();
    await page.getByLabel("Address").fill(provider.url);
    await button(page, "Test").last().click();
    await button(page, "Add house").click();
    await page.getByRole("heading", { name: "house" }).waitFor();
    const models = (await gateway.client.models()).data.map(({ id }) => id);
    expect(models).toContain("llama-3");
  });

  it("does not replace a provider that exists by adding one of its name", async () => {
    const page = await visit("providers");
    await page.getByLabel("Kind").selectOption("another provider");
    await page.getByLabel("Name", { exact: true }).fill("house");
    await page.getByText("A provider house already exists").waitFor();
    expect(await button(page, "Test").last().isDisabled()).toBe(true);
    await page.getByLabel("Name", { exact: true }).fill("house-2");
    await page.getByText("A provider house already exists").waitFor({ state: "detached" });
    expect(await button(page, "Test").last().isDisabled()).toBe(false);
  });

  it("changes the address of a provider, with the key again for another origin", async () => {
    const page = await visit("providers");
    const house = page.getByRole("region", { name: "house" });
    const address = page.getByLabel("Address of house");
    const save = button(page, "Save the address");
    await button(page, "Change house").click();
    expect(await address.inputValue()).toBe(provider.url);
    await address.fill(`${provider.url}/`);
    await page.getByText("Empty keeps the stored key.").waitFor();
    await save.click();
    await house.getByText(`${provider.url}/ `).waitFor();
    await button(page, "Change house").click();
    const moved = provider.url.replace("127.0.0.1", "localhost");
    await address.fill(moved);
    await page.getByText("was entered for another scheme, host or port").waitFor();
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel("Key of house").fill(provider.key);
    await save.click();
    await house.getByText(moved).waitFor();
    const entry = (await gateway.client.configuration()).document.providers.house;
    expect(entry).toMatchObject({ url: moved, key: expect.stringMatching(/^\[secret:/) });
  });

  it("changes the price of a model, disables it, adds one of the catalog and retires one", async () => {
    const page = await visit("models");
    for (const price of ["Input", "Output"]) {
      await page.getByRole("columnheader", { name: `${price}, $ per million tokens` }).waitFor();
    }
    await button(page, "Edit llama-3").click();
    await page.getByLabel("Input price").fill("0.5");
    await page.getByLabel("Output price").fill("1.5");
    await button(page, "Save").click();
    await page.getByRole("row", { name: /llama-3 house \$0\.50 \$1\.50/ }).waitFor();
    const pool = async () => {
      const { data } = await gateway.client.models();
      return data.find(({ id }) => id === "auto")?.models;
    };
    await button(page, "Disable llama-3").click();
    await page.getByRole("row", { name: /^llama-3 .* disabled/ }).waitFor();
    expect(await pool()).not.toContain("llama-3");
    await button(page, "Enable llama-3").click();
    await page.getByRole("row", { name: /^llama-3 .* enabled/ }).waitFor();
    expect(await pool()).toContain("llama-3");
    await page.getByLabel("Model", { exact: true }).fill("gpt-4.1-mini");
    await page.getByText(/per million tokens; .* tokens;/).waitFor();
    await button(page, "Add the model").click();
    await page.getByRole("row", { name: /^gpt-4\.1-mini openai \$0\.40/ }).waitFor();
    await button(page, "Edit gpt-4.1-mini").click();
    await button(page, "Retire the model").click();
    await page.getByRole("row", { name: /^gpt-4\.1-mini/ }).waitFor({ state: "detached" });
  });

  it("adds a deployment of a model with its own key, tests it, replaces the key and removes it", async () => {
    const page = await visit("models");
    const deployments = async () => {
      const entry = (await gateway.client.configuration()).document.models["llama-3"];
      return (entry as { deployments?: { provider: string; key?: string }[] }).deployments;
    };
    await button(page, "Edit llama-3").click();
    await button(page, "Add a deployment").click();
    await page.getByLabel("Provider of the deployment").selectOption("openai");
    await page.getByLabel("Key of the deployment").fill("sk-proj-wrong");
    await button(page, "Test the deployment").click();
    await page.getByText(/^Key: the provider refused the key/).waitFor();
    await page.getByLabel("Key of the deployment").fill(provider.key);
    await button(page, "Test the deployment").click();
    await page.getByText("Key: the provider accepts the key").waitFor();
    await button(page, "Save the deployment").click();
    await page.getByRole("row", { name: /^openai the same its own 1 no limit is used/ }).waitFor();
    const stored = (await deployments())![1]!.key!;
    expect(stored).toMatch(/^\[secret:/);
    const { data } = await gateway.client.models();
    const served = data.find(({ id }) => id === "llama-3")?.deployments;
    expect(served?.map((one) => one.provider)).toEqual(["house", "openai"]);
    await button(page, "Change the deployment at openai").click();
    await page.getByLabel("Key of the deployment").fill("sk-proj-newer-key-0123456789");
    await page.getByLabel("Requests per minute").fill("60");
    await button(page, "Save the deployment").click();
    await page.getByRole("row", { name: /^openai the same its own 1 60 requests/ }).waitFor();
    expect((await deployments())![1]!.key).not.toBe(stored);
    await button(page, "Remove the deployment at openai").click();
    await page.getByRole("row", { name: /^openai the same/ }).waitFor({ state: "detached" });
    const entry = (await gateway.client.configuration()).document.models["llama-3"];
    expect(entry).toEqual({ provider: "house", price: { input: 0.5, output: 1.5 } });
  });

  it("shows what a change of a router would have done before it can be applied", async () => {
    const page = await visit("routers");
    await button(page, "Change auto").click();
    await page.getByLabel("Trade-off").fill("10");
    await button(page, "Review the change").click();
    const effect = page.getByRole("region", { name: "Effect on auto" });
    await effect
      .getByText(
        /^Based on \d+ requests? of the last seven days: the expected cost per request changes .* the quality changes by \S+ wins of 100 comparisons/,
      )
      .waitFor();
    await button(page, "Apply the change").click();
    await page.getByText(/trade-off 10 of 10/).waitFor();
    await button(page, "Change auto").click();
    await page.getByLabel("Mode", { exact: true }).selectOption("observe");
    await button(page, "Review the change").click();
    await page.getByText(/needs a model that answers/).waitFor();
    expect(await button(page, "Apply the change").count()).toBe(0);
  });

  it("asks for another review if the form is changed while a review is on its way", async () => {
    const page = await visit("routers");
    const { promise: isChanged, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/v1/admin/configuration/preview", async (route) => {
      await isChanged;
      await route.continue();
    });
    await button(page, "Change auto").click();
    await page.getByLabel("Trade-off").fill("9");
    const asked = page.waitForRequest("**/preview");
    await button(page, "Review the change").click();
    const review = (await asked).response();
    await page.getByLabel("Trade-off").fill("8");
    answer();
    await (await review)!.finished();
    await button(page, "Review the change").click();
    await button(page, "Apply the change").click();
    await page.getByText(/trade-off 8 of 10/).waitFor();
  });

  it("two operators at once: the second one is told what was changed, and can apply the change", async () => {
    const [one, two] = [await visit("routers"), await (await context()).newPage()];
    await two.goto(`${gateway.url}/#/admin/routers`);
    for (const [page, tradeoff] of [
      [one, "1"],
      [two, "2"],
    ] as const) {
      await button(page, "Change auto").click();
      await page.getByLabel("Trade-off").fill(tradeoff);
      await button(page, "Review the change").click();
      await button(page, "Apply the change").waitFor();
    }
    await button(one, "Apply the change").click();
    await one.getByText(/trade-off 1 of 10/).waitFor();
    await button(two, "Apply the change").click();
    await two.getByText(/Somebody else saved a change first.*routers\.auto/).waitFor();
    await button(two, "Apply my change to the new revision").click();
    await expect
      .poll(async () => {
        const { effective } = await gateway.client.configuration();
        return (effective.routers.auto as { cost_quality_tradeoff: number }).cost_quality_tradeoff;
      })
      .toBe(2);
  });

  it("while the database accepts no writes, nothing is saved and the page says so", async () => {
    const page = await visit("learning");
    const database = new Sqlite(join(gateway.folder, "joust.db"));
    database.exec("BEGIN IMMEDIATE");
    const box = page.getByLabel("Weigh votes by how often");
    await box.click();
    await page.getByText(/Nothing was saved\..*the store is unavailable/).waitFor();
    database.exec("ROLLBACK");
    database.close();
    await box.click();
    await expect
      .poll(async () => (await gateway.client.configuration()).effective.routers.auto)
      .toMatchObject({ weigh_voters: true });
  });

  it("lists the changes, goes back, and exports a file without secrets", async () => {
    const page = await visit("history");
    await button(page, "Undo this change").click();
    await page.getByText("Went back to").waitFor();
    await page.getByText("Before and after").first().click();
    await page.getByRole("region", { name: "Before" }).first().waitFor();
    const { effective } = await gateway.client.configuration();
    expect(effective.routers.auto).toMatchObject({ weigh_voters: false });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export joust.yaml" }).click(),
    ]);
    const text = readFileSync(await download.path(), "utf8");
    expect(text).toContain("\u0024{OPENAI_API_KEY}");
    expect([text, await page.content()].join()).not.toContain("sk-proj");
  });

  it("removes a provider with its models after a confirmation, and undoes it", async () => {
    const page = await visit("providers");
    await button(page, "Remove house").click();
    await button(page, "Really remove house with 1 model").click();
    await page.getByRole("heading", { name: "house" }).waitFor({ state: "detached" });
    const entries = async () => {
      const { providers, models } = (await gateway.client.configuration()).document;
      return [providers.house, models["llama-3"]];
    };
    expect(await entries()).toEqual([undefined, undefined]);
    await page.getByRole("link", { name: "History" }).click();
    await button(page, "Undo this change").click();
    await expect
      .poll(entries)
      .toEqual([
        expect.objectContaining({ key: expect.stringMatching(/^\[secret:/) }),
        expect.objectContaining({ provider: "house" }),
      ]);
    await page.getByRole("link", { name: "Providers" }).click();
    const house = page.getByRole("region", { name: "house" });
    await house.getByRole("button", { name: "Test" }).click();
    await page.getByText("Key: the provider accepts the key").waitFor();
  });

  it("says that a key which was replaced is kept when somebody goes back", async () => {
    const page = await visit("providers");
    const house = page.getByRole("region", { name: "house" });
    await house.getByRole("button", { name: "Replace the key" }).click();
    await page.getByLabel("New key of house").fill("sk-proj-new-key-9876543210");
    await button(page, "Save the new key").click();
    await page.getByLabel("New key of house").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "History" }).click();
    await button(page, "Undo this change").click();
    await page.getByText(/keep their new values: providers\.house\.key/).waitFor();
  });

  it("freezes learning, adds a metric, and shows nodes, leases and a backup", async () => {
    const page = await visit("learning");
    await button(page, "Freeze learning").click();
    await page.getByText("Learning is frozen. Votes are still logged.").waitFor();
    await page.reload();
    await page.getByText(/^Frozen since .* votes are logged, but not learned\.$/).waitFor();
    await button(page, "Continue learning").click();
    await page.getByText("Learning continues, with the votes cast during the freeze.").waitFor();
    await page.getByText("Every vote is learned within seconds.").waitFor();
    expect(await page.getByLabel("Erase all votes of a voter").count()).toBe(0);
    await page.getByLabel("Metric", { exact: true }).fill("solved");
    await button(page, "Save the metric").click();
    await page
      .getByRole("row", { name: /^solved yes or no higher is better one answer/ })
      .waitFor();
    await page.goto(`${gateway.url}/#/admin/system`);
    await page.getByRole("row", { name: /\(this one\).*alive/ }).waitFor();
    await page.getByRole("row", { name: /^auto .* valid/ }).waitFor();
    await button(page, "Back up now").click();
    await page.getByText(/^\d+ files? in .*backups/).waitFor();
  });

  describe.each(SCREENS)("$colorScheme, $viewport.width px", ({ colorScheme, viewport }) => {
    it("no page has a serious accessibility violation or is cut off", async () => {
      const page = await (await context({ colorScheme, viewport })).newPage();
      for (const [section, title] of Object.entries(SECTIONS)) {
        await page.goto(`${gateway.url}/#/admin/${section}`);
        await heading(page, title).waitFor();
        await page.getByRole("heading", { level: 2 }).first().waitFor();
        if (section === "routers") await button(page, "Change auto").click();
        expect([section, await seriousViolations(page)]).toEqual([section, []]);
        expect([section, await cutOff(page)]).toEqual([section, []]);
      }
    });
  });

  it("creates a key, stays signed in with it, limits and revokes another", async () => {
    const page = await visit("keys");
    await page.getByLabel("Name of the key").fill("boss");
    // The first key is one for an administrator, because without one nobody could come back.
    expect(await page.getByLabel("admin", { exact: true }).isChecked()).toBe(true);
    await page.getByLabel("admin", { exact: true }).uncheck();
    await page.getByText(/^Without a key that has the scope admin/).waitFor();
    await page.getByLabel("admin", { exact: true }).check();
    await page.getByLabel("Name of the key").press("Enter");
    await page.getByText("is shown only now").waitFor();
    await page.getByLabel("Signed in as boss").waitFor();
    await page.getByLabel("Name of the key").fill("app");
    await button(page, "Create the key").click();
    await page.getByRole("row", { name: /^app route, vote \$0 no limit/ }).waitFor();
    await button(page, "Change app").click();
    await page.getByLabel("Budget in US dollars per month").first().fill("5");
    await button(page, "Save").click();
    await page.getByRole("row", { name: /^app route, vote \$0 \$5/ }).waitFor();
    await button(page, "Revoke app").click();
    await button(page, "Really revoke app").click();
    await page.getByRole("row", { name: /^app/ }).waitFor({ state: "detached" });
  });
});
