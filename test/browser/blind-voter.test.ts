import { expect, it } from "vitest";
import { seriousViolations } from "./accessibility.fixture.ts";
import { canVote, saveVote, suggestions } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

const ANN = "secret-of-ann-who-votes";
const READER = "secret-of-somebody-who-reads";

describeInChromium("the dashboard of a key", ({ context }) => {
  const gateway = serve(() => ({
    sandbox: { speed: 50 },
    keys: { ann: { key: ANN }, reader: { key: READER, scopes: ["route", "metrics"] } },
  }));
  const openAs = async (key: string) => {
    const page = await (await context()).newPage();
    await page.addInitScript((secret) => {
      localStorage.setItem("joust.key", JSON.stringify(secret));
    }, key);
    return page;
  };

  it("without the scope metrics explains what is left out, and shows the rest", async () => {
    const page = await openAs(ANN);
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    await page.goto(gateway.url);
    await suggestions(page).first().click();
    await canVote(page);
    await page.keyboard.press("1");
    await saveVote(page);
    await page.goto(`${gateway.url}/#/dashboard`);
    const notice = page.getByRole("region", { name: "This key does not show numbers by model" });
    await notice.getByText(/the key ann does not have/).waitFor();
    await notice.getByText("joust keys add NAME --scopes route,metrics").waitFor();
    const decisions = page.getByRole("region", { name: "Decisions" }).last();
    await decisions.getByRole("link").first().waitFor();
    await page.getByRole("region", { name: "Cost-quality trade-off" }).waitFor();
    await page.getByRole("region", { name: "Map of prompts" }).waitFor();
    for (const name of ["Leaderboard", "Models"]) {
      expect(await page.getByRole("heading", { name, exact: true }).count()).toBe(0);
    }
    expect(await page.getByLabel("Time window").count()).toBe(0);
    expect(await page.getByRole("switch", { name: "Simulated voters" }).count()).toBe(0);
    expect(refused).toEqual([]);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it("with the scope metrics has all numbers", async () => {
    const page = await openAs(READER);
    await page.goto(`${gateway.url}/#/dashboard`);
    await page.getByRole("heading", { name: "Leaderboard", exact: true }).waitFor();
    await page.getByRole("heading", { name: "Models", exact: true }).waitFor();
    expect(await page.getByText("does not show numbers by model").count()).toBe(0);
  });
});
