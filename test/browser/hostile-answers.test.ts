import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { answers, ask, canVote, saveVote } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";
import { Upstream } from "./upstream.fixture.ts";

/** Each line tries to set `window.hacked`, to load something or to cover the page. */
const EVIL = `
<script>window.hacked = 1</script>
<img src="https://evil.example/pixel.png" onerror="window.hacked = 2">

![a picture](https://evil.example/pixel.png)
<svg onload="window.hacked = 3"><a href="javascript:window.hacked = 4">x</a></svg>
<iframe src="https://evil.example/"></iframe><style>body { display: none }</style>
<a href="javascript:window.hacked = 5" onclick="window.hacked = 6">click</a>

[one](javascript:window.hacked=7) [two](JaVaScRiPt:window.hacked=8)
[three](data:text/html,<script>window.hacked=9</script>) [four](vbscript:x)
[five](&#106;avascript:window.hacked=10) [fine](https://example.org/ "ok")

<form action="https://evil.example/"><input name="password"><button>Log in</button></form>

\`\`\`"><img src=x onerror=window.hacked=11>
</code></pre><script>window.hacked = 12</script>
\`\`\`

\`\`\`html
<script>window.hacked = 13</script>
\`\`\`

| <img src=x onerror=window.hacked=14> | b |
|---|---|
| <b onmouseover="window.hacked=15">c</b> | [d](javascript:window.hacked=16) |
`;

describeInChromium("hostile answers", ({ open }) => {
  const upstream = new Upstream();
  const gateway = serve(() => upstream.config);

  async function openWithAnswer(pieces: Iterable<string>): Promise<Page> {
    const page = await open(gateway.url);
    await ask(page, "Go on, then");
    await upstream.received(2);
    for (const piece of pieces) upstream.say(piece);
    upstream.say("\n\nThe end.");
    upstream.finish();
    await canVote(page);
    await page.locator("article[aria-busy=true]").first().waitFor({ state: "detached" });
    return page;
  }

  async function voteWorks(page: Page): Promise<void> {
    await page.keyboard.press("1");
    await saveVote(page);
  }

  it("scripts, links, images, frames and forms have no effect", async () => {
    const foreign: string[] = [];
    const page = await open(gateway.url);
    page.on("request", (request) => {
      if (!request.url().startsWith(gateway.url)) foreign.push(request.url());
    });
    await ask(page, "Go on, then");
    await upstream.received(2);
    const shown = answers(page).first();
    const html = () => shown.locator(".answer").innerHTML();
    // The text is sent in pieces, each of which is drawn before the next one is sent.
    let before = "";
    for (let at = 0; at < EVIL.length; at += 200) {
      upstream.say(EVIL.slice(at, at + 200));
      await expect.poll(html).not.toBe(before);
      before = await html();
    }
    upstream.say("\n\nThe end.");
    upstream.finish();
    await shown.getByText("The end.").waitFor();
    expect(
      await shown.locator("script, img, iframe, style, form, object, embed, svg").count(),
    ).toBe(0);
    expect(await shown.locator("input, textarea, [style], [onclick], [onerror]").count()).toBe(0);
    const links = await shown
      .locator("a")
      .evaluateAll((all) =>
        all.map((a) => ({ href: a.getAttribute("href"), rel: a.getAttribute("rel") })),
      );
    expect(links.filter(({ href }) => href !== null).map(({ href }) => href)).toEqual([
      "https://evil.example/pixel.png",
      "https://example.org/",
    ]);
    for (const { rel } of links) expect(rel).toContain("noopener");
    for (const link of await shown.locator("a:not([href])").all()) await link.click();
    // The script is shown as text.
    await shown.getByText("<script>window.hacked = 1</script>").waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(foreign).toEqual([]);
    await voteWorks(page);
  });

  it("a table of 100,000 cells is shown as text, and the vote is saved", async () => {
    const row = `|${" cell |".repeat(100)}\n`;
    const page = await openWithAnswer([row, `|${"---|".repeat(100)}\n`, ...Array(1000).fill(row)]);
    await answers(page).first().getByText("The end.").waitFor();
    expect(await page.locator("article *").count()).toBeLessThan(2000);
    await voteWorks(page);
  });

  it("an answer of 1 MB is shown completely as plain text, and the page still works", async () => {
    const piece = `${"All work and no play **makes** Jack a dull boy. ".repeat(20)}\n`;
    const count = Math.ceil(1_000_000 / piece.length);
    const page = await openWithAnswer(Array(count).fill(piece));
    const text = answers(page).first().locator(".answer");
    await text.getByText("This answer is very long, so it is shown as plain text.").waitFor();
    await expect
      .poll(() => text.evaluate((element) => element.textContent!.length))
      .toBeGreaterThan(1_000_000);
    expect(await page.locator("article *").count()).toBeLessThan(2000);
    await voteWorks(page);
    // The next question is answered as usual.
    await ask(page, "And now?");
    await upstream.received(2);
    upstream.say("Back to normal.");
    upstream.finish();
    await answers(page).last().getByText("Back to normal.").waitFor();
  });

  it("long runs of brackets, asterisks or letters do not block the page", async () => {
    const nasty = [
      "[".repeat(60_000),
      "*a ".repeat(20_000),
      "`".repeat(50_000),
      "x".repeat(300_000),
    ];
    const page = await openWithAnswer(nasty.flatMap((line) => [line, "\n\n"]));
    await voteWorks(page);
  });
});
