import type { Fault } from "../../src/gateway/providers/upstream/misbehaving.fixture.ts";
import type { GatewayProcess } from "../gateway-process.ts";
import { withGateway } from "../gateway-process.ts";
import { post, send } from "../http.ts";
import { type Attack, chat, milliseconds } from "./attack.ts";
import { withFaultyUpstream } from "./faulty-upstream.ts";

const SECRET = "sk-provider-secret-0123456789";

export const UPSTREAM_ATTACKS: readonly Attack[] = [
  {
    item: "6",
    attack: "a provider answers 200 with an error, 30 requests",
    before: "counted as success, no fallback, circuit breaker closed",
    run: () => withModels({ bad: "error200", good: "well" }, errorsAsAnswers),
  },
  {
    item: "7",
    attack: "one model of a duel without streaming hangs",
    before: "the other answer waited 20 s, 600 s by default",
    run: () => withModels({ bad: "hang", good: "well" }, hungDuel, "", "timeout_seconds: 30"),
  },
  {
    item: "7",
    attack: "a model without streaming hangs, first_byte_seconds: 1",
    before: "not applied without streaming",
    run: () =>
      withModels({ bad: "hang", good: "well" }, hungModel, "", "first_byte_seconds: 1, retries: 0"),
  },
  {
    item: "7",
    attack: "both models of a streamed duel fail",
    before: "the stream ended with [DONE]",
    run: () => withModels({ bad: "resetMidStream", worse: "errorInStream" }, bothFail),
  },
  {
    item: "8",
    attack: "providers repeat their key in a 400, a 500, a 200 and an event",
    before: "the key reached the client",
    run: () =>
      withModels(
        { a: "keyIn400", b: "keyIn500", c: "keyIn200", d: "keyInStream" },
        echoedKeys,
        "server: {log: trace}",
      ),
  },
];

/** Attacks a gateway whose models fail in the named ways. */
function withModels<T>(
  models: Readonly<Record<string, Fault>>,
  work: (gateway: GatewayProcess) => Promise<T>,
  more = "",
  settings = "retries: 0",
): Promise<T> {
  return withFaultyUpstream((upstream) => {
    const lines = Object.entries(models).map(([name, fault]) => ({
      provider: `  p-${name}: {url: "${upstream.url(fault)}", key: ${SECRET}}`,
      // The failing model is cheap, so that it is chosen first.
      model: `  ${name}: {provider: p-${name}, price: {input: ${name === "good" ? 9 : 0}, output: ${name === "good" ? 9 : 0}}, ${settings}}`,
    }));
    const yaml = `${more}
providers:\n${lines.map(({ provider }) => provider).join("\n")}
models:\n${lines.map(({ model }) => model).join("\n")}
routers: {auto: {explore: 0, cost_quality_tradeoff: 10}}`;
    return withGateway(yaml, work);
  });
}

async function errorsAsAnswers({ url }: GatewayProcess) {
  let good = 0;
  for (let i = 0; i < 30; i++) {
    const { status, text } = await post(`${url}/v1/chat/completions`, chat(`hi ${i}`));
    if (status === 200 && text.includes("Hello!")) good++;
  }
  const stats = JSON.parse((await send(`${url}/v1/stats`)).text);
  const bad = stats.models.find(({ model }: { model: string }) => model === "bad");
  return {
    now: `${good} of 30 answered by another model; breaker ${bad.breaker}, ${bad.failures} of ${bad.calls} calls counted as failures`,
    held: good === 30 && bad.breaker === "open" && bad.failures === bad.calls,
  };
}

async function hungDuel({ url }: GatewayProcess) {
  const startedAt = performance.now();
  const request = chat("hi", { joust: { duel: true } });
  const { status, text } = await post(`${url}/v1/chat/completions`, request);
  const took = performance.now() - startedAt;
  return {
    now: `${status} after ${milliseconds(took)}, the time that duels.grace_seconds allows`,
    held: status === 200 && text.includes("Hello!") && took < 15_000,
  };
}

async function hungModel({ url }: GatewayProcess) {
  const startedAt = performance.now();
  const { status, text } = await post(`${url}/v1/chat/completions`, chat("hi"));
  const took = performance.now() - startedAt;
  return {
    now: `${status} by another model after ${milliseconds(took)}`,
    held: status === 200 && text.includes("Hello!") && took < 8000,
  };
}

async function bothFail({ url }: GatewayProcess) {
  const request = chat("hi", { stream: true, joust: { duel: true } });
  const { text } = await post(`${url}/v1/chat/completions`, request);
  const isDone = text.includes("[DONE]");
  return {
    now: isDone ? "ends with [DONE]" : `ends with an error, without [DONE]`,
    held: !isDone && /error/.test(text),
  };
}

async function echoedKeys({ url, output }: GatewayProcess) {
  let leaks = 0;
  for (const model of ["a", "b", "c", "d", "auto"]) {
    for (const stream of [false, true]) {
      const { text } = await post(`${url}/v1/chat/completions`, chat("hi", { model, stream }));
      if (text.includes(SECRET)) leaks++;
    }
  }
  const logged = output().split(SECRET).length - 1;
  return {
    now: `in ${leaks} of 10 responses and ${logged} lines of the log`,
    held: leaks === 0 && logged === 0,
  };
}
