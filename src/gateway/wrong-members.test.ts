import { describe, expect, it } from "vitest";
import { startDialectHost } from "./dialect-host.fixture.ts";
import { startGateway } from "./gateway.fixture.ts";
import type { DialectName } from "./wire/dialect-names.ts";

const PATHS = { chat: "chat/completions", responses: "responses", messages: "messages" } as const;
const DIALECTS = Object.keys(PATHS) as DialectName[];

async function startAll() {
  const host = await startDialectHost();
  const gateway = await startGateway(`${host.yaml}routers: {auto: {}}\n`);
  return { host, gateway };
}

const listOf = (dialect: DialectName) => (dialect === "responses" ? "input" : "messages");

describe.each(DIALECTS)("a request of %s", (dialect) => {
  const models = ["auto", ...DIALECTS.map((name) => `${name}-model`)];

  it("with a number that is too large is refused, and the error names it", async () => {
    const { host, gateway } = await startAll();
    for (const model of models) {
      for (const number of ["1e999", "-1e999"]) {
        const list = `"${listOf(dialect)}":[{"role":"user","content":"x"}]`;
        const response = await fetch(`${gateway.url}/v1/${PATHS[dialect]}`, {
          method: "POST",
          body: `{"model":"${model}",${list},"max_tokens":9,"temperature":${number}}`,
        });
        expect(response.status).toBe(400);
        expect(await response.text()).toContain("temperature: is too large for a number");
      }
    }
    expect(host.received).toHaveLength(0);
  });

  it("with a content that is neither text nor a list is refused, and the error names it", async () => {
    const { host, gateway } = await startAll();
    for (const model of models.filter((name) => name !== `${dialect}-model`)) {
      const messages = [
        { role: "user", content: "x" },
        { role: "user", content: 5 },
      ];
      const body = { model, max_tokens: 9, [listOf(dialect)]: messages };
      const { status, text } = await gateway.post(`/v1/${PATHS[dialect]}`, body);
      expect([model, status]).toEqual([model, 400]);
      expect(text).toContain(`${listOf(dialect)}[1].content`);
    }
    expect(host.received).toHaveLength(0);
  });
});

it("compaction of a conversation is refused as not supported", async () => {
  const { gateway } = await startAll();
  const response = await fetch(`${gateway.url}/v1/responses/compact`, { method: "POST" });
  const { error } = (await response.json()) as { error: { code: string; hint: string } };
  expect([response.status, error.code]).toEqual([400, "not_supported"]);
  expect(error.hint).toContain("send the conversation itself");
});
