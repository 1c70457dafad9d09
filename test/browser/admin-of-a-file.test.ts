import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { suggestions } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name });

describeInChromium("administration by a file", ({ open }) => {
  const gateway = serve(() => ({ sandbox: { speed: 50 }, routers: { auto: { explore: 0.1 } } }));

  it("shows everything, changes nothing, and says why", async () => {
    const page = await open(gateway.url);
    await suggestions(page).first().waitFor();
    expect(await page.getByRole("region", { name: "First start" }).count()).toBe(0);
    await page.getByRole("link", { name: "Admin" }).click();
    await page.getByText(/joust\.yaml.*manages this installation/).waitFor();
    await page.getByRole("link", { name: "Routers" }).click();
    await button(page, "Show auto").click();
    expect(await page.getByLabel("Trade-off").isDisabled()).toBe(true);
    expect(await button(page, "Review the change").count()).toBe(0);
  });

  it("says that the file is invalid until it is corrected", async () => {
    const file = join(gateway.folder, "joust.yaml");
    const text = readFileSync(file, "utf8");
    const invalid = async () => (await gateway.client.configuration()).invalid;
    writeFileSync(file, text.replace("0.1", "7"));
    await expect.poll(invalid).toBeDefined();
    const page = await open(`${gateway.url}/#/admin/routers`);
    await page.getByText(/The file cannot be served\..*routers\.auto\.explore/).waitFor();
    writeFileSync(file, text);
    await expect.poll(invalid).toBeUndefined();
  });

  it("lists the voters without a way to weigh them, and forgets one by name after a confirmation", async () => {
    const { client } = gateway;
    const messages = [{ role: "user", content: "Why?" }];
    const { id } = await client.chat({ model: "auto", messages, joust: { duel: true } });
    await client.vote({ id, winner: 0, voter: "ann" });
    const page = await open(`${gateway.url}/#/admin/learning`);
    await page.getByRole("row", { name: /^ann 1 / }).waitFor();
    await page.getByText("the list is read-only").waitFor();
    for (const name of ["Exclude ann", "Weigh ann", "Forget ann"]) {
      expect(await button(page, name).count()).toBe(0);
    }
    const field = page.getByLabel("Erase all votes of a voter");
    for (const [voter, result] of [
      ["nobody", /has no vote of "nobody"/],
      ["ann", "ann is forgotten: 1 vote was erased."],
    ] as const) {
      await field.fill(voter);
      await button(page, `Forget ${voter}`).click();
      await button(page, `Really forget ${voter}`).click();
      await page.getByText(result).waitFor();
    }
    await page.getByText("Nobody has voted yet.").waitFor();
    expect(await field.inputValue()).toBe("");
  });

  it("a gateway that is gone is shown, and the page recovers", async () => {
    const page = await open(`${gateway.url}/#/admin/system`);
    await page.getByRole("heading", { name: /^Joust / }).waitFor();
    await gateway.stop();
    await page.getByText("The gateway does not respond. Trying again").waitFor();
    await gateway.restart();
    await page.getByText(/^Connected again/).waitFor();
    await page.getByRole("row", { name: /\(this one\).*alive/ }).waitFor();
  });
});
