import { expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { MESSAGES, PATHS, startDialectUpstream } from "../dialect-upstream.fixture.ts";
import { startGateway } from "../gateway.fixture.ts";

/** The numbers of /v1/stats against what the upstream was asked and what the client sent and got. */

const PRICES = { good: [1, 2], bad: [10, 30], flaky: [3, 5] } as const;
/** Tokens of the prompt, which each model counts in its own way, and mean tokens of an answer. */
const TOKENS = { good: [100, 300], bad: [120, 400], flaky: [90, 200] } as const;
type Name = keyof typeof PRICES;
const NAMES = Object.keys(PRICES) as Name[];

/** Numbers by model. */
const zeros = () => Object.fromEntries(NAMES.map((name) => [name, 0])) as Record<Name, number>;

it.each([1, 2, 3])("counts what happened in a small world (seed %i)", async (seed) => {
  const generator = Random.seeded(seed);
  const random = () => generator.uniform();
  const below = (n: number) => Math.floor(random() * n);
  const host = await startDialectUpstream();
  const providers = host.yaml.slice(0, host.yaml.indexOf("models:"));
  const models = NAMES.map(
    (name) =>
      `  ${name}: {provider: chat-provider, model: ${name}, retries: 0, price: {input: ${PRICES[name][0]}, output: ${PRICES[name][1]}}}`,
  );
  const gateway = await startGateway(
    `${providers}models:\n${models.join("\n")}\nrouters: {auto: {explore: 0.5, duels: {mode: true, share: 0, spend: 1}}}\n`,
  );

  const truth = {
    ...{ calls: zeros(), failures: zeros(), cost: zeros(), given: zeros() },
    ...{ input: zeros(), output: zeros(), wins: zeros(), ties: zeros(), bad: zeros() },
    ...{ ratings: zeros(), rated: zeros(), duelled: zeros() },
  };
  const counts = { requests: 0, duels: 0, votes: 0, ties: 0, both_bad: 0, ratings: 0, first: 0 };
  host.answer = ({ body }) => {
    const model = body.model as Name;
    truth.calls[model]++;
    if (model === "flaky" && random() < 0.3) {
      truth.failures[model]++;
      return { status: 500, body: { error: { message: "no" } } };
    }
    const [prompt, mean] = TOKENS[model];
    const completion = Math.round(mean * (0.85 + 0.3 * random()));
    truth.input[model] += prompt;
    truth.output[model] += completion;
    truth.cost[model] += (prompt * PRICES[model][0] + completion * PRICES[model][1]) / 1e6;
    const head = { id: "c", created: 5, model };
    const usage = { prompt_tokens: prompt, completion_tokens: completion };
    const content = `I am ${model}.`;
    const choice = { index: 0, finish_reason: "stop" };
    if (!body.stream) {
      const message = { role: "assistant", content };
      const object = "chat.completion";
      return { body: { ...head, object, choices: [{ ...choice, message }], usage } };
    }
    const chunk = { ...head, object: "chat.completion.chunk" };
    return {
      body: [
        { ...chunk, choices: [{ ...choice, delta: { content } }] },
        { ...chunk, choices: [], usage },
      ],
    };
  };

  for (let n = 0; n < 60; n++) {
    const duel = n % 2 === 0;
    const stream = !duel && below(2) === 0;
    const joust = { duel };
    const before = host.received.length;
    const { status, json, text } = await gateway
      .post(PATHS.chat, { model: "auto", messages: MESSAGES, stream, joust })
      .then(({ status, text }) => {
        return { status, text, json: stream ? undefined : JSON.parse(text) };
      });
    counts.requests++;
    if (duel) {
      counts.duels++;
      const asked = host.received.slice(before, before + 2);
      for (const { body } of asked) truth.duelled[body.model as Name]++;
    }
    const said = [...text.matchAll(/I am (\w+)\./g)].map(([, name]) => name as Name);
    for (const name of said) truth.given[name]++;
    if (status !== 200 || stream) continue;
    const id = json.id;
    const vote = (body: object) => gateway.post("/v1/feedback", { id, ...body });
    if (said.length === 2) {
      const winner = [0, 1, "tie", "both_bad", undefined][below(5)];
      if (winner === undefined) continue;
      for (const status of ["logged", "repeated"]) {
        expect((await vote({ winner })).json.status).toBe(status);
      }
      expect((await vote({ winner: winner === 0 ? 1 : 0 })).status).toBe(409);
      counts.votes++;
      if (winner === "tie") counts.ties++;
      if (winner === "both_bad") counts.both_bad++;
      if (winner === 0) counts.first++;
      for (const name of said) {
        if (winner === "tie") truth.ties[name]++;
        if (winner === "both_bad") truth.bad[name]++;
      }
      if (typeof winner === "number") truth.wins[said[winner]!]++;
    } else if (below(2) === 0) {
      const rating = [-1, -0.5, 0, 0.5, 1][below(5)]!;
      expect((await vote({ rating })).json.status).toBe("logged");
      counts.ratings++;
      truth.ratings[said[0]!]++;
      truth.rated[said[0]!] += rating;
    }
  }
  await gateway.log.flush();
  const stats = (await gateway.get("/v1/stats?hours=1")).json;
  const sum = (numbers: Record<Name, number>) =>
    NAMES.reduce((all, name) => all + numbers[name], 0);

  const { first, ...counted } = counts;
  expect(stats.counts).toMatchObject({
    ...counted,
    votes: counts.votes + counts.ratings,
    first_wins: first,
    input_tokens: sum(truth.input),
    output_tokens: sum(truth.output),
  });
  expect(stats.spend.total).toBeCloseTo(sum(truth.cost), 9);
  for (const name of NAMES) {
    const model = stats.models.find((one: { model: string }) => one.model === name);
    expect(model).toMatchObject({
      ...{ calls: truth.calls[name], failures: truth.failures[name], given: truth.given[name] },
      ...{ wins: truth.wins[name], ties: truth.ties[name], both_bad: truth.bad[name] },
      ...{ ratings: truth.ratings[name], duels: truth.duelled[name] },
      ...{ input_tokens: truth.input[name], output_tokens: truth.output[name] },
    });
    expect(model.share).toBeCloseTo(truth.given[name] / sum(truth.given), 9);
    expect(model.cost).toBeCloseTo(truth.cost[name], 9);
    expect(stats.spend.by_model[name] ?? 0).toBeCloseTo(truth.cost[name], 9);
    if (truth.ratings[name] > 0)
      expect(model.mean_rating).toBeCloseTo(truth.rated[name] / truth.ratings[name], 9);
    const always = stats.spend.always.find((one: { model: string }) => one.model === name);
    const [prompt, output] = TOKENS[name];
    const alone = (60 * (prompt * PRICES[name][0] + output * PRICES[name][1])) / 1e6;
    expect(always.cost / alone).toBeGreaterThan(0.8);
    expect(always.cost / alone).toBeLessThan(1.2);
    expect(always.savings).toBeCloseTo(always.cost - sum(truth.cost), 9);
    const isDegraded = truth.failures[name] / truth.calls[name] >= 0.05;
    if (model.breaker === "closed") expect(model.health === "ok").toBe(!isDegraded);
  }
});
