import { expect, it } from "vitest";
import { chat, SANDBOX, sharedGateway } from "../gateway.fixture.ts";

const FRIEND = "https://page.example";
const gateway = sharedGateway(() => `${SANDBOX}\nserver: {cors: ["${FRIEND}"]}`);

const preflight = (origin: string, path = "/v1/chat/completions") =>
  fetch(`${gateway().url}${path}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type",
    },
  });

it("allows the origins in server.cors, and lets their pages read the headers of the response", async () => {
  for (const path of ["/v1/chat/completions", "/v1/decisions/x"]) {
    const allowed = await preflight(FRIEND, path);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-origin")).toBe(FRIEND);
    expect(allowed.headers.get("access-control-allow-headers")).toBe("authorization, content-type");
  }
  const { status, headers } = await gateway().post("/v1/chat/completions", chat("hi"), {
    origin: FRIEND,
  });
  expect([status, headers.get("access-control-allow-origin")]).toEqual([200, FRIEND]);
  expect(headers.get("access-control-expose-headers")).toContain("x-joust-decision-id");
  const refused = await gateway().post("/v1/feedback", "no JSON", { origin: FRIEND });
  expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([
    400,
    FRIEND,
  ]);
});

it("refuses other origins and says how to allow them", async () => {
  const refused = await preflight("https://other.example");
  expect(refused.status).toBe(403);
  expect(refused.headers.get("access-control-allow-origin")).toBeNull();
  expect(await refused.text()).toMatch(/"hint":"add it to server\.cors/);
});
