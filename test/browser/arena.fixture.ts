import type { Page } from "playwright-core";

/** Actions in the arena and the elements they lead to. */

export const suggestions = (page: Page) =>
  page.getByRole("region", { name: "Suggestions" }).getByRole("button");

export const answers = (page: Page) => page.getByRole("article");

export const voteBar = (page: Page) => page.getByRole("group", { name: "Which answer is better?" });

export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Your question").fill(question);
  await page.keyboard.press("Enter");
}

/** Waits until the duel can be voted on. */
export async function canVote(page: Page): Promise<void> {
  await voteBar(page).getByRole("button", { name: "A is better", disabled: false }).waitFor();
}

/** Waits until the gateway has acknowledged the vote. */
export async function voteIsSaved(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Your vote" }).getByText("Your vote is saved.").waitFor();
}
