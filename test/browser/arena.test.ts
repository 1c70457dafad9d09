import { expect, it } from "vitest";
import {
  answers,
  ask,
  canVote,
  saveVote,
  suggestions,
  voteBar,
  voteIsSaved,
} from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

describeInChromium("arena", ({ open }) => {
  const gateway = serve(() => ({ sandbox: { speed: 50 } }));
  const newest = async (limit: number) => (await gateway.client.decisions({ limit })).data;

  it("the first vote takes one click and one key", async () => {
    const page = await open(gateway.url);
    await suggestions(page).first().click();
    await canVote(page);
    await page.keyboard.press("1");
    await saveVote(page);
    await page.getByText(/^You preferred .+ to .+/).waitFor();
    await page.getByText(/cost .* times as much as/).waitFor();
    const [decision] = await newest(1);
    expect(decision).toMatchObject({ duel: true, votes: [{ outcome: "a" }] });
  });

  it("Enter asks the next question, again and again", async () => {
    const page = await open(gateway.url);
    await suggestions(page).first().click();
    for (const key of ["1", "2", "3", "4"]) {
      await canVote(page);
      await page.keyboard.press(key);
      await page.keyboard.press("Enter"); // shows the models
      await voteIsSaved(page);
      if (key !== "4") await page.keyboard.press("Enter"); // asks the next question
    }
    const outcomes = (await newest(4)).map(({ votes }) => votes[0]?.outcome);
    expect(outcomes).toEqual(["both_bad", "tie", "b", "a"]);
  });

  it("a conversation continues with the preferred answer; a single answer takes a rating", async () => {
    const page = await open(gateway.url);
    await ask(page, "What is the capital of France?");
    await canVote(page);
    const preferred = await answers(page).last().locator(".answer").innerText();
    await page.getByRole("button", { name: "B is better" }).click();
    await saveVote(page);
    await page.getByText("One answer").click();
    const sent = page.waitForRequest("**/v1/chat/completions");
    await ask(page, "And of Italy?");
    const { messages, joust } = (await sent).postDataJSON() as {
      messages: { role: string; content: string }[];
      joust: { duel: boolean };
    };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[1]!.content).toContain(preferred.slice(0, 20));
    expect(joust.duel).toBe(false);
    await page.getByRole("button", { name: "Good answer", disabled: false }).last().click();
    await page.getByText("Thank you. Your vote is saved.").waitFor();
    const [single, duel] = await newest(2);
    expect(single).toMatchObject({ duel: false, votes: [{ rating: 1 }] });
    expect(duel).toMatchObject({ duel: true, votes: [{ outcome: "b" }] });
  });

  it("two tabs are two conversations", async () => {
    const pages = [await open(gateway.url), await open(gateway.url)];
    await Promise.all(pages.map((page, i) => ask(page, `What is ${i} + ${i}?`)));
    for (const [i, page] of pages.entries()) {
      await canVote(page);
      expect(await answers(page).count()).toBe(2);
      await page.getByText(`You asked: What is ${i} + ${i}?`).waitFor();
    }
    // A vote in one tab does not affect the other.
    await pages[0]!.keyboard.press("1");
    await saveVote(pages[0]!);
    expect(await voteBar(pages[1]!).isVisible()).toBe(true);
    await pages[1]!.keyboard.press("2");
    await saveVote(pages[1]!);
    const votes = (await newest(2)).map((decision) => decision.votes.length);
    expect(votes).toEqual([1, 1]);
  });
});
