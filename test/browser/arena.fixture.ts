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

/** Sends the vote without waiting for the ten seconds in which it can be undone. */
export async function sendVote(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Show the models" }).click();
}

/** Sends the vote, and waits until the gateway has acknowledged it. */
export async function saveVote(page: Page): Promise<void> {
  await sendVote(page);
  await voteIsSaved(page);
}

/** Waits until the gateway has acknowledged the vote. */
export async function voteIsSaved(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Your vote" }).getByText("Your vote is saved.").waitFor();
}

/** An image of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Attaches an image to the question. */
export async function attachImage(page: Page): Promise<void> {
  const buffer = Buffer.from(PIXEL, "base64");
  const file = { name: "pixel.png", mimeType: "image/png", buffer };
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByRole("img", { name: "Attachment 1", exact: true }).waitFor();
}
