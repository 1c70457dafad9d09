import { expect, it } from "vitest";
import { JoustClient } from "../../src/client.ts";
import { canVote, saveVote, suggestions } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

const ADMIN = "secret-of-the-administrator";

describeInChromium("a link for voters", ({ context }) => {
  const gateway = serve(() => ({
    sandbox: { speed: 50 },
    keys: { boss: { key: ADMIN, scopes: ["admin", "route", "vote"] } },
  }));

  it("is created by an administrator, and opens only the arena, in which votes count", async () => {
    const boss = await (await context()).newPage();
    await boss.addInitScript((key) => {
      localStorage.setItem("joust.key", JSON.stringify(key));
    }, ADMIN);
    await boss.goto(gateway.url);
    await boss.getByRole("button", { name: "Invite people to vote" }).click();
    await boss.getByLabel("Name of the key").fill("team");
    await boss.getByLabel("Budget in US dollars per month").fill("5");
    await boss.getByRole("button", { name: "Create the link" }).click();
    const link = await boss.getByRole("dialog").getByText("/#/invite/").textContent();

    const voter = await (await context()).newPage();
    // Nothing can be asked before the link's key is exchanged for a session.
    let before: number | undefined;
    await voter.route("**/v1/session", async (route) => {
      if (route.request().method() === "POST") {
        await voter.getByText("Arena").first().waitFor();
        before = await suggestions(voter).count();
      }
      await route.continue();
    });
    await voter.goto(link!);
    await suggestions(voter).first().click();
    await canVote(voter);
    expect(before).toBe(0);
    await voter.keyboard.press("1");
    await saveVote(voter);
    expect(voter.url()).not.toContain("invite");
    const pages = voter.getByRole("navigation", { name: "Pages" }).getByRole("link");
    expect(await pages.allTextContents()).toEqual(["Arena"]);
    const admin = new JoustClient({ baseUrl: gateway.url, apiKey: ADMIN });
    const { data } = await admin.decisions({ limit: 1 });
    expect(data[0]!.votes).toMatchObject([{ outcome: "a" }]);
    const key = (await admin.keys()).data.find(({ name }) => name === "team");
    expect(key).toMatchObject({ scopes: ["route", "vote"], budget: 5 });

    // Another page leads back to the arena, also after the browser was closed.
    await voter.goto(`${gateway.url}/#/dashboard`);
    await voter.reload();
    await expect.poll(() => voter.url()).toMatch(/#\/$/);
    await voter.getByRole("heading", { name: "Arena", exact: true }).waitFor({ state: "attached" });
    expect(await voter.getByRole("button", { name: "Invite people to vote" }).count()).toBe(0);
  });

  it("works in a tab in which the page is open already", async () => {
    const admin = new JoustClient({ baseUrl: gateway.url, apiKey: ADMIN });
    const { secret } = await admin.addKey({ name: "late", scopes: ["route", "vote"] });
    const page = await (await context()).newPage();
    await page.goto(gateway.url);
    await page.getByRole("dialog", { name: "Sign in" }).waitFor();
    await page.evaluate((link) => {
      location.hash = link;
    }, `#/invite/${secret}`);
    await suggestions(page).first().waitFor();
    expect(page.url()).not.toContain("invite");
  });

  it.each(["%", "revoked-key"])("with a key that does not work says so: %s", async (secret) => {
    const page = await (await context()).newPage();
    await page.goto(`${gateway.url}/#/invite/${secret}`);
    await page.getByText("The key of your invitation does not work").waitFor();
    expect(page.url()).not.toContain("invite");
  });

  it("is not offered to people who may not create it", async () => {
    const admin = new JoustClient({ baseUrl: gateway.url, apiKey: ADMIN });
    const { secret } = await admin.addKey({ name: "plain", scopes: ["route", "vote"] });
    const page = await (await context()).newPage();
    await page.goto(gateway.url);
    await page.getByLabel("API key").fill(secret);
    await page.keyboard.press("Enter");
    await suggestions(page).first().waitFor();
    expect(await page.getByRole("button", { name: "Invite people to vote" }).count()).toBe(0);
  });
});
