import type { Page, Request } from "playwright-core";
import { expect, it } from "vitest";
import {
  answers,
  ask,
  attachImage,
  canVote,
  saveVote,
  voteBar,
  voteIsSaved,
} from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly temperature?: number;
  readonly max_completion_tokens?: number;
  readonly joust: { readonly allowed_models?: readonly string[] };
}

/** The next question that the page sends. */
const nextQuestion = (page: Page): Promise<Sent> =>
  page
    .waitForRequest("**/v1/chat/completions")
    .then((request: Request) => request.postDataJSON() as Sent);

describeInChromium("tools of the arena", ({ open }) => {
  const gateway = serve(() => ({ sandbox: { speed: 50 } }));
  const newest = async () => (await gateway.client.decisions({ limit: 1 })).data[0]!;

  it("a vote can be undone for ten seconds, and carries reasons and a comment", async () => {
    const page = await open(gateway.url);
    await ask(page, "What is 2 + 2?");
    await canVote(page);
    await page.keyboard.press("1");
    await page.getByText("Answer A is better").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await canVote(page);
    expect((await newest()).votes).toEqual([]);
    await page.keyboard.press("2");
    await page.getByRole("button", { name: "Clearer" }).click();
    await page.getByLabel("Comment on your vote").fill("It shows the steps");
    await saveVote(page);
    const { votes } = await newest();
    expect(votes).toMatchObject([{ outcome: "b" }, { comment: "Clearer. It shows the steps" }]);
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
  });

  it("a vote that is not undone is sent after ten seconds, or when the page is closed", async () => {
    const page = await open(gateway.url);
    await ask(page, "What is 3 + 3?");
    await canVote(page);
    await page.keyboard.press("3");
    await voteIsSaved(page);
    expect((await newest()).votes).toMatchObject([{ outcome: "tie" }]);
    await page.getByRole("button", { name: "New conversation" }).click();
    await ask(page, "What is 4 + 4?");
    await canVote(page);
    await page.keyboard.press("4");
    await page.getByText("Both answers are bad").waitFor();
    await page.close({ runBeforeUnload: false });
    await expect.poll(async () => (await newest()).votes).toMatchObject([{ outcome: "both_bad" }]);
  });

  it("after a tie the person chooses the answer that continues the conversation", async () => {
    const page = await open(gateway.url);
    await ask(page, "Name a colour");
    await canVote(page);
    await page.keyboard.press("3");
    await saveVote(page);
    await page.getByRole("radio", { name: "answer B" }).check();
    const chosen = await answers(page).last().locator(".answer").innerText();
    const sent = nextQuestion(page);
    await ask(page, "Why?");
    const { messages } = await sent;
    // The text begins with the same words as the answer, without its markdown.
    expect(plain(messages[1]!.content)).toContain(plain(chosen).slice(0, 40));
    await canVote(page);
  });

  it("formulas are rendered, and KaTeX is loaded only for them", async () => {
    const page = await open("about:blank");
    const scripts: string[] = [];
    page.on("request", (request) => {
      if (/math|katex/i.test(request.url())) scripts.push(request.url());
    });
    await page.route("**/v1/chat/completions", (route) => route.fulfill(streamOf(FORMULAS)));
    await page.goto(gateway.url);
    await page.getByLabel("Your question").waitFor();
    expect(scripts).toEqual([]);
    await page.getByText("One answer").click();
    await ask(page, "Show a formula");
    const answer = answers(page).first();
    await answer.locator(".math-inline .katex").waitFor();
    await answer.locator(".math-display .katex-display").waitFor();
    expect(await answer.locator("math").count()).toBe(2);
    await answer.getByText("costs $5 or $10").waitFor();
    // A formula that cannot be read stays text.
    await answer.getByText("\\frac{").waitFor();
    expect(scripts.length).toBeGreaterThan(0);
  });

  it("an image is shown with the question and sent to the models", async () => {
    const page = await open(gateway.url);
    await attachImage(page);
    const sent = nextQuestion(page);
    await ask(page, "What is in this picture?");
    const { messages } = await sent;
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is in this picture?" },
          {
            type: "image_url",
            image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) },
          },
        ],
      },
    ]);
    await page.getByRole("img", { name: "Attachment 1 of your question" }).waitFor();
    await canVote(page);
    // An image can also be pasted.
    await page.keyboard.press("1");
    await saveVote(page);
    await page.getByLabel("Your question").focus();
    await page.evaluate(pasteImage);
    await page.getByRole("img", { name: "Attachment 1", exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove image 1" }).click();
    await page.getByRole("list", { name: "Attached images" }).waitFor({ state: "detached" });
  });

  it("options: two chosen models, system prompt and parameters", async () => {
    const page = await open(gateway.url);
    await page.getByRole("button", { name: "Options", exact: true }).click();
    await page.getByLabel("First model").selectOption("quill-32b");
    await page.getByLabel("Second model").selectOption("summit-pro");
    await page.getByLabel("Temperature").fill("0.3");
    await page.getByLabel("Longest answer").fill("400");
    await page.getByLabel("System prompt").fill("Answer in one sentence.");
    const sent = nextQuestion(page);
    await ask(page, "Why is the sky blue?");
    expect(await sent).toMatchObject({
      messages: [
        { role: "system", content: "Answer in one sentence." },
        { role: "user", content: "Why is the sky blue?" },
      ],
      temperature: 0.3,
      max_completion_tokens: 400,
      joust: { duel: true, allowed_models: ["quill-32b", "summit-pro"] },
    });
    await canVote(page);
    await page.keyboard.press("1");
    await saveVote(page);
    const { models } = await newest();
    expect(models?.toSorted()).toEqual(["quill-32b", "summit-pro"]);
  });

  it.each([
    ["Enter", (page: Page) => page.keyboard.press("Enter")],
    ["Send", (page: Page) => page.getByRole("button", { name: "Send" }).click()],
  ])(
    "%s sends a number that was typed digit by digit, and none outside its limits",
    async (_, send) => {
      const page = await open(gateway.url);
      await page.getByRole("button", { name: "Options", exact: true }).click();
      const temperature = page.getByLabel("Temperature");
      await temperature.pressSequentially("5");
      await page.getByText("Enter a number from 0 to 2.").waitFor();
      await page.keyboard.press("Backspace");
      await temperature.pressSequentially("0.05");
      await page.getByLabel("Longest answer").pressSequentially("0");
      await page.getByLabel("Your question").fill("Why is the sky blue?");
      const sent = nextQuestion(page);
      await send(page);
      const request = await sent;
      expect([request.temperature, request.max_completion_tokens]).toEqual([0.05, undefined]);
    },
  );

  it("Escape closes the editor of a question, and the focus returns", async () => {
    const page = await open(gateway.url);
    await page.getByText("One answer").click();
    await ask(page, "What is 5 + 5?");
    const edit = page.getByRole("button", { name: /^Edit/ });
    await edit.focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Edit the question").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Escape");
    await edit.and(page.locator(":focus")).waitFor();
  });

  it("a question can be edited and sent again, and an answer made again", async () => {
    const page = await open(gateway.url);
    await page.getByText("One answer").click();
    await ask(page, "What is 5 + 5?");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    await ask(page, "And 6 + 6?");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    const again = nextQuestion(page);
    await page.getByRole("button", { name: "Regenerate" }).click();
    expect((await again).messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    const edited = nextQuestion(page);
    await page.getByRole("button", { name: /^Edit/ }).first().click();
    await page.getByLabel("Edit the question").fill("What is 7 + 7?");
    await page.keyboard.press("Enter");
    expect((await edited).messages).toEqual([{ role: "user", content: "What is 7 + 7?" }]);
    expect(await page.getByRole("listitem", { name: /^Question/ }).count()).toBe(1);
    await page.getByRole("button", { name: "Copy answer" }).waitFor();
  });

  it("earlier conversations are found, opened and deleted", async () => {
    const page = await open(gateway.url);
    await page.getByText("One answer").click();
    for (const question of ["Why is grass green?", "Why is snow white?"]) {
      await ask(page, question);
      await page.getByRole("button", { name: "Regenerate" }).waitFor();
      await page.getByRole("button", { name: "New conversation" }).click();
    }
    await page.getByRole("button", { name: "History" }).click();
    const dialog = page.getByRole("dialog", { name: "History" });
    await dialog.getByLabel("Search the history").fill("GRASS green");
    await dialog.getByText("Why is snow white?").waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: /^Why is grass green/ }).click();
    await page.getByText("You asked: Why is grass green?").waitFor();
    await page.getByRole("button", { name: "History" }).click();
    await dialog.getByRole("button", { name: "Delete Why is grass green?" }).click();
    await dialog.getByText("Why is grass green?").waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: /^Why is snow white/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("You asked: Why is grass green?").waitFor({ state: "detached" });
    expect(await voteBar(page).count()).toBe(0);
  });

  it("a vote of a conversation that was left at once is saved when it is opened again", async () => {
    const page = await open(gateway.url);
    await ask(page, "Why is the sea salty?");
    await canVote(page);
    await page.keyboard.press("1");
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("button", { name: /^Why is the sea salty/ }).click();
    await voteIsSaved(page);
  });

  it("a conversation that was left while its answer was being written is in the history", async () => {
    const page = await open(gateway.url);
    await page.getByText("One answer").click();
    await page.route("**/v1/chat/completions", () => {}); // never answered
    await ask(page, "Why is the night dark?");
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("button", { name: /^Why is the night dark/ }).waitFor();
  });

  it("number keys do not vote behind an open dialog", async () => {
    const page = await open(gateway.url);
    await ask(page, "Why is the sky blue?");
    await page.getByRole("button", { name: "Skip", exact: true }).click();
    await page.getByRole("button", { name: "History" }).click();
    const close = page.getByRole("dialog").getByRole("button", { name: "Close" });
    await close.focus();
    await page.keyboard.press("1");
    await close.click();
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    expect(await page.getByRole("region", { name: "Your vote" }).count()).toBe(0);
  });

  it("a refused thumb can be sent again", async () => {
    const page = await open(gateway.url);
    await page.getByText("One answer").click();
    await ask(page, "Why is ice cold?");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    const body = JSON.stringify({ error: { message: "no votes today", code: "invalid_request" } });
    await page.route("**/v1/feedback", (route) => route.fulfill({ status: 400, body }));
    const good = page.getByRole("button", { name: "Good answer" });
    await good.click();
    await page.getByText("no votes today").waitFor();
    await page.unroute("**/v1/feedback");
    await good.click();
    await page.getByText("Thank you. Your vote is saved.", { exact: true }).waitFor();
  });
});

const FORMULAS =
  "Inline $e^{i\\pi} = -1$, which costs $5 or $10.\n\n$$\\int_0^1 x \\, dx$$\n\nBroken: $\\frac{1}$";

/** A streamed response with one answer. */
function streamOf(content: string) {
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: "x", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  return {
    contentType: "text/event-stream",
    body: `${chunk({ content }, null)}${chunk({}, "stop")}data: [DONE]\n\n`,
  };
}

function plain(text: unknown): string {
  return String(text).replace(/[^\p{L}\p{N}]+/gu, " ");
}

/** Runs in the page: pastes an image into the focused field. */
async function pasteImage(): Promise<void> {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 2;
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  const data = new DataTransfer();
  data.items.add(new File([blob!], "pasted.png", { type: "image/png" }));
  const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true });
  document.activeElement!.dispatchEvent(event);
}
