import type { BrowserContext, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { JoustClient } from "../../src/client.ts";
import { ask, canVote, suggestions, voteIsSaved } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

const KEY = "adm-adm-adm-adm-adm";
const ANN = "secret-of-ann-who-votes";

describeInChromium("signing in", ({ context }) => {
  const gateway = serve(() => ({
    keys: { boss: { key: KEY, scopes: ["admin"] }, ann: { key: ANN } },
    sandbox: { speed: 50 },
  }));
  const dialog = (page: Page) => page.getByRole("dialog", { name: "Sign in" });
  const enter = async (page: Page, key: string) => {
    await dialog(page).getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
  };
  /** Opens the page, signs in, and waits until it can be used. */
  const signedIn = async (own: BrowserContext, path = "") => {
    const page = await own.newPage();
    await page.goto(`${gateway.url}${path}`);
    await enter(page, KEY);
    await dialog(page).waitFor({ state: "hidden" });
    return page;
  };
  /** Ends the session of a browser behind its back. */
  const endSession = async (own: BrowserContext) => {
    const [{ name, value } = { name: "", value: "" }] = await own.cookies();
    const headers = { cookie: `${name}=${value}` };
    const { csrf } = (await (await fetch(`${gateway.url}/v1/session`, { headers })).json()) as {
      csrf: string;
    };
    const ending = { method: "DELETE", headers: { ...headers, "x-joust-csrf": csrf } };
    expect((await fetch(`${gateway.url}/v1/session`, ending)).status).toBe(200);
  };

  it.each(["", "/#/dashboard", "/#/setup"])(
    "a wrong or a missing key says so and keeps the dialog open: %s",
    async (path) => {
      const page = await (await context()).newPage();
      await page.goto(`${gateway.url}${path}`);
      await dialog(page).getByText("This gateway requires an API key.").waitFor();
      await dialog(page).getByRole("button", { name: "Sign in" }).click();
      await dialog(page).getByText("Enter a key.").waitFor();
      await enter(page, "wrong");
      await dialog(page)
        .getByRole("alert")
        .filter({ hasText: /^The API key is unknown\./ })
        .waitFor();
      await dialog(page).getByRole("button", { name: "Not now" }).click();
      await page.getByRole("heading", { name: "Sign in to use this gateway" }).waitFor();
      await page.getByRole("button", { name: "Enter a key" }).click();
      await enter(page, KEY);
      await dialog(page).waitFor({ state: "hidden" });
      const title = { "/#/dashboard": "No requests yet", "/#/setup": "Setup" }[path] ?? "";
      if (path === "") await suggestions(page).first().waitFor();
      else await page.getByRole("heading", { name: title }).waitFor();
    },
  );

  describe("a session", () => {
    it("survives a reload, and no script can read it", async () => {
      const page = await signedIn(await context());
      await page.reload();
      await suggestions(page).first().waitFor();
      expect(await dialog(page).isVisible()).toBe(false);
      const readable = await page.evaluate(() => [
        document.cookie,
        JSON.stringify({ ...localStorage, ...sessionStorage }),
      ]);
      expect(readable.join()).not.toMatch(/joust_session|adm-adm/);
    });

    it("shows when it ends, and signing out ends it", async () => {
      const own = await context();
      const page = await signedIn(own, "/#/setup");
      await page.getByLabel("Signed in as boss").click();
      await page.getByText(/^The session ends on /).waitFor();
      const [{ value } = { value: "" }] = await own.cookies();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in to use this gateway" }).waitFor();
      const headers = { cookie: `joust_session=${value}` };
      expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(401);
    });

    it("that ended is shown, and after signing in again the work continues", async () => {
      const own = await context();
      const page = await signedIn(own);
      // No request is on its way any more that would be refused before the question.
      await suggestions(page).first().waitFor();
      const composer = page.getByLabel("Your question");
      await composer.fill("What is 2 + 2?");
      await endSession(own);
      // The feed of events is refused as well, after the question.
      const refused = page.waitForResponse(
        (response) => response.url().endsWith("/v1/events") && response.status() === 401,
      );
      await composer.press("Enter");
      await refused;
      await dialog(page).getByText("The session was ended. Sign in again to continue.").waitFor();
      await enter(page, KEY);
      await dialog(page).waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Ask again" }).click();
      await canVote(page);
    });

    it("sends a held vote after a reload, once the session is known again", async () => {
      const page = await signedIn(await context());
      await ask(page, "What is 2 + 2?");
      await canVote(page);
      await page.keyboard.press("1");
      await page.getByText("Answer A is better").waitFor();
      await page.reload();
      await voteIsSaved(page);
    });

    it("takes everything of the person away when it is ended here", async () => {
      const own = await context();
      const page = await signedIn(own);
      const other = await own.newPage();
      await other.goto(`${gateway.url}/#/setup`);
      await other.getByRole("heading", { name: "Setup" }).waitFor();
      await page.getByRole("button", { name: "Options", exact: true }).click();
      await page.getByLabel("System prompt").fill("Answer in verse.");
      await ask(page, "What is my secret?");
      await canVote(page);
      await page.keyboard.press("1");
      await page.getByText("Answer A is better").waitFor();
      await page.getByLabel("Signed in as boss").click();
      await page.getByRole("button", { name: "Sign out" }).click();
      for (const tab of [page, other]) {
        await tab.getByRole("heading", { name: "Sign in to use this gateway" }).waitFor();
      }
      const stored = await page.evaluate(() =>
        JSON.stringify({ ...localStorage, ...sessionStorage }),
      );
      expect(stored).not.toMatch(/secret|in verse/);
      const client = new JoustClient({ baseUrl: gateway.url, apiKey: KEY });
      const votes = async () => (await client.decisions({ limit: 1 })).data[0]!.votes;
      await expect.poll(votes).toMatchObject([{ outcome: "a" }]);
      await enter(page, KEY);
      await suggestions(page).first().waitFor();
    });

    it("is not ended by the late refusal of a request of the session before", async () => {
      const own = await context();
      const page = await signedIn(own);
      await suggestions(page).first().waitFor();
      // A request of the ended session is answered only after the next session has begun.
      const { promise: isSignedIn, resolve: refuse } = Promise.withResolvers<void>();
      const body = JSON.stringify({ error: { message: "the session was ended" } });
      await page.route("**/v1/chat/completions", async (route) => {
        await isSignedIn;
        await route.fulfill({ status: 401, body });
      });
      await ask(page, "What is 2 + 2?");
      await page.getByLabel("Signed in as boss").click();
      await page.getByRole("button", { name: "Use another key" }).click();
      await enter(page, KEY);
      await dialog(page).waitFor({ state: "hidden" });
      refuse();
      await page.getByText("Incomplete.").waitFor();
      expect(await page.getByLabel("Signed in as boss").isVisible()).toBe(true);
      expect(await dialog(page).isVisible()).toBe(false);
    });

    it("of another key shows nothing that was read with the key before", async () => {
      const page = await signedIn(await context(), "/#/admin/keys");
      await page.getByRole("heading", { name: "Add a key" }).waitFor();
      await page.getByLabel("Signed in as boss").click();
      await page.getByRole("button", { name: "Use another key" }).click();
      await enter(page, ANN);
      await page.getByRole("alert").getByText(/admin/).waitFor();
      expect(await page.getByRole("heading", { name: "Add a key" }).count()).toBe(0);
    });

    it("that expires while the page is open opens the dialog", async () => {
      const page = await (await context()).newPage();
      await page.clock.install();
      await page.goto(gateway.url);
      await dialog(page).waitFor();
      // The dialog is still about to close when the session expires.
      await page.clock.pauseAt(Date.now() + 60_000);
      await enter(page, KEY);
      await page.getByLabel("Signed in as boss").waitFor();
      await page.clock.fastForward(12 * 3_600_000 + 60_000);
      await page.clock.resume();
      await dialog(page).getByText("The session has expired. Sign in again to continue.").waitFor();
    });

    it("of a key that the older page had stored in the browser begins by itself", async () => {
      const page = await (await context()).newPage();
      await page.goto(gateway.url);
      await dialog(page).waitFor();
      await page.evaluate((key) => localStorage.setItem("joust.key", JSON.stringify(key)), KEY);
      await page.reload();
      await page.getByLabel("Signed in as boss").waitFor();
      await suggestions(page).first().waitFor();
    });
  });
});
