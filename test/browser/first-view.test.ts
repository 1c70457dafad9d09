import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { ROOT } from "../e2e/joust.fixture.ts";
import { canVote, suggestions } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

const MAX_BYTES = 250_000;

describeInChromium("the first view", ({ open }) => {
  const gateway = serve();
  const gzipped = (path: string) => gzipSync(readFileSync(join(ROOT, "web/dist", path))).length;

  it("loads at most 250 kB of gzipped scripts, and the chart library only with the first chart", async () => {
    const page = await open("about:blank");
    const scripts = new Set<string>();
    page.on("request", (request) => {
      if (request.resourceType() === "script") scripts.add(new URL(request.url()).pathname);
    });
    await page.goto(gateway.url);
    await suggestions(page).first().waitFor();
    const first = [...scripts];
    expect(first.length).toBeGreaterThan(0);
    expect(first.reduce((sum, path) => sum + gzipped(path), 0)).toBeLessThanOrEqual(MAX_BYTES);
    expect(first.filter((path) => path.includes("echarts"))).toEqual([]);
    await page.getByRole("link", { name: "Dashboard" }).click();
    await page.getByRole("heading", { name: "No requests yet" }).waitFor();
    expect([...scripts].filter((path) => path.includes("echarts"))).toEqual([]);
    await page.getByRole("link", { name: "Arena", exact: true }).click();
    await suggestions(page).first().click();
    await canVote(page);
    await page.getByRole("link", { name: "Dashboard" }).click();
    await page.locator("canvas").first().waitFor();
    expect([...scripts].filter((path) => path.includes("echarts"))).toHaveLength(1);
  });

  it("allows only its own script files, by its Content-Security-Policy", async () => {
    const response = await fetch(gateway.url);
    const policy = new Map(
      response.headers
        .get("content-security-policy")!
        .split(";")
        .map((rule) => rule.trim().split(" "))
        .map(([name, ...sources]) => [name, sources.join(" ")]),
    );
    expect(policy.get("default-src")).toBe("'none'");
    for (const name of ["script-src", "style-src", "connect-src"]) {
      expect([name, policy.get(name)]).toEqual([name, "'self'"]);
    }
    const html = await response.text();
    expect(html.match(/<script[^>]*>/g)).toEqual([expect.stringMatching(/ src="\/assets\//)]);
    expect(html).not.toMatch(/<style|<script[^>]*>[^<]|\son\w+=|\sstyle=/i);
  });

  const built = (type: string) =>
    readdirSync(join(ROOT, "web/dist/assets"))
      .filter((name) => name.endsWith(type))
      .map((name) => readFileSync(join(ROOT, "web/dist/assets", name), "utf8"));

  it("no built file refers to another host", () => {
    const styles = built(".css");
    expect(styles.length).toBeGreaterThan(0);
    for (const text of styles) expect(text).not.toMatch(/url\(["']?https?:|@import/);
  });

  it("no built file contains the path of the checkout", () => {
    const scripts = built(".js");
    expect(scripts.length).toBeGreaterThan(0);
    for (const text of scripts) expect(text).not.toContain(ROOT);
  });
});
