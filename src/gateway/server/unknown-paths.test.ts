import { expect, it } from "vitest";
import { sharedGateway, startGateway } from "../gateway.fixture.ts";

const FAST = "sandbox: {speed: 1000}\n";
const shared = sharedGateway(() => FAST);

async function counted(kind: string): Promise<number> {
  const { text } = await shared().get("/metrics");
  const found = new RegExp(`joust_unknown_paths_total\\{kind="${kind}"\\} (\\d+)`).exec(text);
  return Number(found?.[1] ?? 0);
}

it.each([
  ["POST", "/chat/completions", "base_url", /use \/v1\/chat\/completions: .* must end in \/v1/],
  ["POST", "/v1/v1/chat/completions", "base_url", /use \/v1\/chat\/completions/],
  ["GET", "/models", "base_url", /use \/v1\/models/],
  ["DELETE", "/v1/chat/completions", "method", /use POST/],
  ["POST", "/api/chat", "other_api", /Ollama/],
  ["POST", "/v1beta/models/gemini-2.5-pro:generateContent", "other_api", /Gemini/],
  ["POST", "/openai/deployments/x/chat/completions", "other_api", /Azure/],
  ["POST", "/model/x/converse", "other_api", /Bedrock/],
  ["POST", "/v1/images/generations", "other_api", /call the provider itself/],
  ["GET", "/wp-login.php", "other", /openapi\.json/],
])("%s %s is counted as %s and logged with a hint", async (method, path, kind, hint) => {
  const before = await counted(kind);
  for (let i = 0; i < 2; i++) {
    const response = await fetch(`${shared().url}${path}`, { method });
    expect(response.status).toBe(kind === "method" ? 405 : 404);
    const { error } = (await response.json()) as { error: { hint: string } };
    expect(error.hint).toMatch(hint);
  }
  expect(await counted(kind)).toBe(before + 2);
  const lines = shared().lines.filter((line) => line.includes("unknown path"));
  const logged = lines.filter((line) => JSON.parse(line).path === path);
  expect(logged).toHaveLength(1);
  expect(JSON.parse(logged[0]!)).toMatchObject({ method, path, hint: expect.stringMatching(hint) });
});

it("the number of logged paths is limited", async () => {
  const gateway = await startGateway(FAST);
  for (let i = 0; i < 150; i++) await gateway.get(`/x/${i}`);
  expect(gateway.lines.filter((line) => line.includes("unknown path"))).toHaveLength(100);
  const { text } = await gateway.get("/metrics");
  expect(text).toContain('joust_unknown_paths_total{kind="other"} 150');
});

it("a key with the scope metrics reads the metrics and nothing else", async () => {
  const gateway = await startGateway(`${FAST}
keys:
  prometheus: {key: key-of-prometheus, scopes: [metrics]}
  shop: {key: key-of-the-shop-1234}
  boss: {key: key-of-the-boss-1234, scopes: [admin]}
`);
  const status = async (path: string, key: string) =>
    (await gateway.get(path, { authorization: `Bearer ${key}` })).status;
  expect(await status("/metrics", "key-of-prometheus")).toBe(200);
  expect(await status("/metrics", "key-of-the-boss-1234")).toBe(200);
  expect(await status("/metrics", "key-of-the-shop-1234")).toBe(403);
  expect(await status("/v1/models", "key-of-prometheus")).toBe(403);
  expect((await gateway.get("/metrics")).status).toBe(401);
});
