import { expect, it } from "vitest";
import {
  answers,
  ask,
  canVote,
  saveVote,
  sendVote,
  voteBar,
  voteIsSaved,
} from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";
import { Upstream } from "./upstream.fixture.ts";

describeInChromium("answers while they are streamed", ({ open }) => {
  const upstream = new Upstream();
  const gateway = serve(() => upstream.config);

  it("take a vote before their end, continue after it, and show their prices at the end", async () => {
    const page = await open(gateway.url);
    await ask(page, "Why is the sky blue?");
    await upstream.received(2);
    upstream.say("Because of ");
    await answers(page).last().getByText("Because of").waitFor();
    // Some words are not enough to judge an answer.
    expect(await voteBar(page).getByRole("button", { name: "A is better" }).isDisabled()).toBe(
      true,
    );
    upstream.say("very many small particles in the air, ".repeat(8));
    await canVote(page);
    await page.keyboard.press("2");
    await saveVote(page);
    await page.getByText(/^You preferred (one to two|two to one)$/).waitFor();
    expect(await answers(page).last().getAttribute("aria-busy")).toBe("true");
    upstream.say("Rayleigh scattering.");
    upstream.finish();
    for (const slot of [0, 1]) {
      const answer = answers(page).nth(slot);
      await answer.getByText(/^Because of .* Rayleigh scattering\.$/).waitFor();
      await answer.getByText(/^\$0\.\d+$/).waitFor();
      await answer.and(page.locator("[aria-busy=false]")).waitFor();
    }
  });

  it("are rendered as markdown", async () => {
    const page = await open(gateway.url);
    await ask(page, "What is left to do?");
    await upstream.received(2);
    upstream.say("- [x] done\n- [ ] open\n\n7. seventh\n8. eighth\n\n");
    upstream.say("| name | price |\n|---|--:|\n| a | 12 |\n\n```ts\nconst x = 1;\n```\n");
    upstream.finish();
    const answer = answers(page).first();
    await answer.locator("code .hljs-keyword").getByText("const").waitFor();
    const boxes = answer.getByRole("checkbox", { disabled: true });
    expect(await boxes.count()).toBe(2);
    expect([await boxes.first().isChecked(), await boxes.last().isChecked()]).toEqual([
      true,
      false,
    ]);
    expect(await answer.locator("ol").getAttribute("start")).toBe("7");
    const price = answer.getByRole("cell", { name: "12" });
    expect(await price.evaluate((cell) => getComputedStyle(cell).textAlign)).toMatch(/right$/);
  });

  it("keep their text after a reload, take a vote, and can be requested again", async () => {
    const page = await open(gateway.url);
    await ask(page, "Why is grass green?");
    await upstream.received(2);
    upstream.say("Chlorophyll ");
    await answers(page).last().getByText("Chlorophyll").waitFor();
    await page.reload();
    await page.getByText("The page was reloaded").first().waitFor();
    for (const slot of [0, 1]) await answers(page).nth(slot).getByText("Chlorophyll").waitFor();
    await page.keyboard.press("1");
    await saveVote(page);
    await page.getByRole("button", { name: "Ask again" }).click();
    await upstream.received(2);
    upstream.say("Leaves.");
    upstream.finish();
    await canVote(page);
    expect(await page.getByRole("listitem", { name: /^Question/ }).count()).toBe(2);
  });

  it("keep their text when they are stopped, and take a vote", async () => {
    const page = await open(gateway.url);
    await ask(page, "Tell me a story");
    await upstream.received(2);
    upstream.say("Once upon a time");
    for (const slot of [0, 1]) await answers(page).nth(slot).getByText("Once upon").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await canVote(page);
    await page.keyboard.press("3");
    await saveVote(page);
    await page.getByText("A tie between").waitFor();
  });

  it("when the gateway is restarted: the page reports it, votes wait and are saved, and questions work again", async () => {
    const page = await open(gateway.url);
    await ask(page, "Why is snow white?");
    await upstream.received(2);
    upstream.say("Light is scattered.");
    upstream.finish();
    await canVote(page);
    await gateway.stop();
    await page.getByText("The gateway does not respond. Trying again").waitFor();
    await page.keyboard.press("1");
    await sendVote(page);
    await page.getByText(/does not respond; trying again/).waitFor();
    // The message disappears after a while, so the test must wait for it from the start.
    const reconnected = page.getByText(/^Connected again/).waitFor();
    await gateway.restart();
    await reconnected;
    await voteIsSaved(page);
    const { data } = await gateway.client.decisions({ limit: 1 });
    expect(data[0]!.votes).toHaveLength(1);
    await ask(page, "And why is coal black?");
    await upstream.received(2);
    upstream.say("It absorbs light.");
    upstream.finish();
    await canVote(page);
  });
});
