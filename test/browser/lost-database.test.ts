import { afterAll, beforeAll, expect, it } from "vitest";
import { startPostgres } from "../../src/store/postgres/server.fixture.ts";
import { ask, canVote, sendVote, voteBar, voteIsSaved } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

const postgres = await startPostgres();

if (typeof postgres === "string") {
  // Skipped only where PostgreSQL cannot be started; the name of the test says why.
  it.skip(`a lost database (${postgres})`, () => {});
} else {
  describeInChromium("a lost database", ({ open }) => {
    let database: string;
    beforeAll(async () => {
      database = await postgres.newDatabase();
    });
    afterAll(() => postgres.stop());
    const gateway = serve(() => ({ sandbox: { speed: 1000 }, store: { url: database } }));

    it("is shown, requests are still answered, and the vote is saved once the database is back", async () => {
      const page = await open(gateway.url);
      await ask(page, "What is 6 times 7?");
      await canVote(page);
      await postgres.halt();
      await voteBar(page).getByRole("button", { name: "A is better" }).click();
      await sendVote(page);
      await page.getByText(/the store is unavailable.*trying again/).waitFor();
      const messages = [{ role: "user", content: "What is 6 times 7?" }];
      const { choices } = await gateway.client.chat({ model: "auto", messages });
      expect(choices[0]?.message.content).toContain("What is 6 times 7?");
      const dashboard = await open(`${gateway.url}/#/dashboard`);
      const system = await open(`${gateway.url}/#/admin/system`);
      for (const tab of [dashboard, system])
        await tab.getByText(/the store is unavailable/).waitFor();

      await postgres.resume();
      await voteIsSaved(page);
      await dashboard.getByText("1 vote of all voters in this time window").waitFor();
      await system.getByText(/It accepts writes/).waitFor();
    });
  });
}
