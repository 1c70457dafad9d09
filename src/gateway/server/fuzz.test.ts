import fc from "fast-check";
import { expect, it } from "vitest";
import { chat, SANDBOX, sharedGateway } from "../gateway.fixture.ts";
import { type Schema, valuesOf } from "./schema.fixture.ts";

const gateway = sharedGateway(
  () => `${SANDBOX}
keys:
  boss: {key: adm-adm-adm-adm-adm, scopes: [admin]}
  ann: {key: ann-ann-ann-ann-ann}
routers: {auto: {}, other: {models: [summit-pro, abacus-14b]}}`,
);
const BOSS = { authorization: "Bearer adm-adm-adm-adm-adm" };
const ANN = { authorization: "Bearer ann-ann-ann-ann-ann" };

interface Operation {
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[];
  readonly requestBody?: { content: { "application/json": { schema: Schema } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Bodies that are valid, valid except for one member, any JSON, a part of a valid body, any text. */
function bodiesOf({ requestBody }: Operation): fc.Arbitrary<string> {
  const schema = requestBody?.content["application/json"].schema ?? {};
  const good = valuesOf(schema);
  const routed = good.map((body) =>
    typeof body === "object" && body !== null && "model" in body
      ? { ...body, model: "auto" }
      : body,
  );
  const damaged = fc
    .tuple(good, fc.nat(), fc.jsonValue())
    .map(([body, at, value]) => damage(body, at, value));
  const cut = fc.tuple(good, fc.nat()).map(([body, at]) => {
    const text = JSON.stringify(body);
    return text.slice(0, at % (text.length + 1));
  });
  return fc.oneof(
    { weight: 3, arbitrary: routed.map((body) => JSON.stringify(body)) },
    { weight: 2, arbitrary: damaged.map((body) => JSON.stringify(body)) },
    fc.json(),
    cut,
    fc.string({ unit: "binary" }),
  );
}

/** Replaces one member. */
function damage(body: unknown, at: number, value: unknown): unknown {
  if (typeof body !== "object" || body === null) return value;
  const names = Object.keys(body);
  return names.length === 0 ? value : { ...body, [names[at % names.length]!]: value };
}

it("answers any request without a crash or a 500, and errors in the documented shape", async () => {
  const { get, url } = gateway();
  const { paths } = (await get("/openapi.json")).json as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  expect(operations.length).toBeGreaterThan(20);
  const marker = "session-of-ann";
  const own = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: ANN,
    body: JSON.stringify(chat("hi", { joust: { session_id: marker } })),
  });
  const id = own.headers.get("x-joust-decision-id")!;
  for (const { path, method, operation } of operations) {
    // This stream does not end.
    if (path === "/v1/events") continue;
    const { parameters: described = [] } = operation;
    const word = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("auto", "other", id));
    const parameters = fc.record(
      Object.fromEntries(
        described.map(({ name, schema }) => [name, fc.oneof(valuesOf(schema).map(String), word)]),
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        parameters,
        bodiesOf(operation),
        fc.constantFrom(BOSS, ANN, {}),
        async (values, body, key) => {
          const given = values as Record<string, string>;
          const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given[name]!));
          const query = described
            .filter(({ in: where }) => where === "query")
            .map(({ name }) => `${name}=${encodeURIComponent(given[name]!)}`);
          const answer = await fetch(`${url}${filled}?${query.join("&")}`, {
            method: method.toUpperCase(),
            headers: { ...key },
            ...(method === "post" && { body }),
          });
          const text = await answer.text();
          const said = `${method} ${filled} ${body} -> ${answer.status} ${text}`;
          expect([500, 501], said).not.toContain(answer.status);
          if (answer.status >= 400) {
            expect(JSON.parse(text), said).toMatchObject({
              error: { message: expect.any(String) },
            });
            expect(Object.keys(operation.responses), said).toContain(String(answer.status));
          }
          if (key !== ANN && key !== BOSS) expect(text, said).not.toContain(marker);
        },
      ),
      { numRuns: 25, seed: 1 },
    );
  }
  expect((await get("/healthz")).status).toBe(200);
});
