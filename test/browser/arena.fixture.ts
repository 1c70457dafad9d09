import type { Page } from "playwright-core";

/** What a person does in the arena, and what is seen. */

export const suggestions = (page: Page) =>
  page.getByRole("region", { name: "Suggestions" }).getByRole("button");

export const answers = (page: Page) => page.getByRole("article");

export const voteBar = (page: Page) => page.getByRole("group", { name: "Which answer is better?" });

export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Your question").fill(question);
  await page.keyboard.press("Enter");
}

/** Waits until the vote is open. */
export async function canVote(page: Page): Promise<void> {
  await voteBar(page).getByRole("button", { name: "A is better", disabled: false }).waitFor();
}

/** Waits until the gateway has acknowledged the vote. */
export async function isKept(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Your vote" }).getByText("Your vote is kept.").waitFor();
}
