import { expect, it } from "vitest";
import { chat, configOf, startGateway, startHost } from "../gateway.fixture.ts";

it("are learned and shown: several of a decision, with their values and the comment", async () => {
  const host = await startHost();
  const { post, get } = await startGateway(`
providers: {p: {url: "${host.url("well")}"}}
models: {a: {provider: p}, b: {provider: p}}
metrics:
  thumbs: {type: boolean}
  errors: {type: number, min: 0, max: 10, direction: lower}
  solved: {type: boolean, level: session, weight: 1}`);
  const joust = { session_id: "s" };
  const ask = async (text: string) =>
    (await post("/v1/chat/completions", chat(text, { joust }))).json.id as string;
  const [first, second] = [await ask("one"), await ask("two")];
  const send = (body: object) => post("/v1/feedback", { id: second, ...body });

  const feedback = { metrics: { thumbs: true, errors: 10 }, comment: "many errors" };
  expect((await send(feedback)).json.status).toBe("logged");
  expect((await send(feedback)).json.status).toBe("repeated");
  expect((await send({ metrics: { thumbs: false } })).status).toBe(409);
  expect((await send({ metrics: { latency: 3 } })).json.error).toMatchObject({
    code: "undeclared_metric",
  });
  const votesOf = async (id: string) => (await get(`/v1/decisions/${id}`)).json.votes;
  expect(await votesOf(second!)).toMatchObject([
    { rating: 1, metric: { name: "thumbs", value: true }, comment: "many errors" },
    { rating: -1, metric: { name: "errors", value: 10 } },
  ]);

  expect(await votesOf(first!)).toEqual([]);
  await send({ metric_name: "solved", value: true });
  expect(await votesOf(first!)).toMatchObject([{ metric: { name: "solved", value: true } }]);
});

it.each([
  "x: {type: number}",
  "x: {type: rating, min: 5, max: 1}",
  "x: {type: boolean, min: 0}",
  "x: {type: text}",
])("are refused in the configuration: %s", (line) => {
  expect(() => configOf(`metrics: {${line}}`)).toThrow();
});
