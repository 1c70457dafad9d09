import { z } from "zod";
import { readKey, unseal } from "../../store/seal.ts";
import type { Access } from "../access/access.ts";
import { secretOf } from "../access/api-key.ts";
import { HttpError } from "../errors/http-error.ts";
import { readVote, VOTE } from "../feedback/vote-body.ts";
import { receiveVote } from "../feedback/votes.ts";
import { collect } from "../insight/collect.ts";
import { decisionView, presentView } from "../insight/decision-view.ts";
import { route } from "../insight/route.ts";
import { logged } from "../log/logged.ts";
import type { Price } from "../providers/upstream/usage.ts";
import { resolve, type Serving } from "../routing/serving.ts";
import { CHAT, COMPLETION, EMBEDDING } from "./chat-schema.ts";
import { bodyOf, type Call, type Endpoint, queryOf, TextAnswer } from "./endpoint.ts";
import { noDecision } from "./http-error.ts";

const DECISIONS_QUERY = z.object({
  router: z.string().max(256).optional(),
  session_id: z.string().max(256).optional(),
  before: z.coerce.number().int().min(0).optional().describe("The last page's `next`."),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** What any client of OpenAI's knows, and what voters need. */
export const CLIENT_ENDPOINTS: readonly Endpoint[] = [
  {
    method: "POST",
    path: "/v1/chat/completions",
    summary: "An answer of the model most likely to please; or of two, to vote on.",
    scope: "route",
    body: CHAT,
    answer: "OpenAI's completion, or a stream of its chunks; `joust` says how it came about.",
    refusals: [404, 413, 502, 503, 504],
    handle: (call, client) => call.gateway.answerChat(call, client),
  },
  passThrough("/v1/completions", "completions", COMPLETION, "A completion of one named model."),
  passThrough("/v1/embeddings", "embeddings", EMBEDDING, "Embeddings by one named model."),
  {
    method: "POST",
    path: "/v1/route",
    summary: "The decision alone, with its reasons.",
    scope: "route",
    body: CHAT,
    answer: "Who would answer and why: scores, uncertainty, win probability, cost, seed.",
    refusals: [404, 413],
    handle: ({ gateway, caller, body, headers }) => route(gateway, caller, body, headers),
  },
  vote("/v1/feedback", "A vote on a duel, or a rating of one answer."),
  vote("/feedback", "The same under another name."),
  {
    method: "GET",
    path: "/v1/decisions",
    summary: "Decisions, the newest first.",
    scope: "route",
    query: DECISIONS_QUERY,
    answer: "A page of decisions; `next` leads to the one after it.",
    handle: decisions,
  },
  {
    method: "GET",
    path: "/v1/decisions/{id}",
    summary: "One decision: its reasons, answers and votes. A duel is hidden until it is voted on.",
    scope: "route",
    answer: "The decision.",
    refusals: [404],
    handle: decision,
  },
  {
    method: "GET",
    path: "/v1/models",
    summary: "Routers and models.",
    scope: "route",
    answer: "OpenAI's list.",
    handle: ({ gateway }) => ({ object: "list", data: modelList(gateway.serving()) }),
  },
  {
    method: "GET",
    path: "/v1/models/{id}",
    summary: "One router or model.",
    scope: "route",
    answer: "OpenAI's model.",
    refusals: [404],
    handle: ({ gateway, params }) => {
      const { name } = resolve(gateway.serving(), params.id!);
      return modelList(gateway.serving()).find(({ id }) => id === name);
    },
  },
  {
    method: "GET",
    path: "/healthz",
    summary: "Whether the process is alive.",
    answer: "It is.",
    handle: () => ({ status: "ok" }),
  },
  {
    method: "GET",
    path: "/readyz",
    summary: "Whether requests should be sent here.",
    answer: "They should. `store` is down while votes are refused; requests are served.",
    refusals: [503],
    handle: ({ gateway }) => {
      if (gateway.closing.aborted) {
        throw new HttpError(503, "this node is shutting down", { hint: "ask another one" });
      }
      return { status: "ready", store: gateway.log.stats.down ? "down" : "up" };
    },
  },
  {
    method: "GET",
    path: "/metrics",
    summary: "Metrics for Prometheus.",
    scope: "admin",
    answer: "Its text format.",
    type: "text/plain",
    handle: async ({ gateway }) => {
      const { registry } = gateway.metrics;
      await collect(gateway);
      return new TextAnswer(registry.contentType, await registry.metrics());
    },
  },
];

function passThrough(
  path: string,
  endpoint: "completions" | "embeddings",
  body: z.ZodType,
  summary: string,
): Endpoint {
  return {
    method: "POST",
    path,
    summary,
    scope: "route",
    body,
    answer: "The model's own answer.",
    refusals: [404, 413, 502, 503, 504],
    handle: (call, client) => call.gateway.answerUnrouted(endpoint, call, client),
  };
}

/** A key or a token: so the scope is looked at here. */
function vote(path: string, summary: string): Endpoint {
  return {
    method: "POST",
    path,
    summary: `${summary} Idempotent; kept when it is acknowledged.`,
    body: VOTE,
    answer: "The vote is kept; who answered is shown.",
    refusals: [401, 403, 404, 409, 429, 503],
    handle: async (call) => {
      const { gateway, headers } = call;
      const { "x-joust-vote-token": header } = headers;
      const token = typeof header === "string" ? { vote_token: header } : {};
      const body = { ...token, ...bodyOf(z.looseObject({}), call) };
      const isByToken = "vote_token" in body && !mayVoteByKey(gateway.access, call);
      if (isByToken) gateway.access.limitStranger(call.address);
      const caller = isByToken ? undefined : await gateway.access.admit(headers, "vote");
      return receiveVote(gateway, caller, readVote(body));
    },
  };
}

/** Whoever sends both is known by the key. */
function mayVoteByKey(access: Access, { headers }: Call): boolean {
  return access.isOpen || secretOf(headers) !== undefined;
}

async function decisions(call: Call): Promise<object> {
  const { gateway, caller } = call;
  const { router, session_id, before, limit } = queryOf(DECISIONS_QUERY, call);
  await logged(gateway.log);
  const page = await gateway.store.decisions({
    router,
    session: session_id,
    before,
    limit,
    owner: caller.isAdmin ? undefined : caller.owner,
  });
  const next = page.length === limit ? page.at(-1)!.decision.position : undefined;
  return { object: "list", data: page.map(decisionView), ...(next !== undefined && { next }) };
}

async function decision({ gateway, caller, params }: Call): Promise<object> {
  await logged(gateway.log);
  const record = await gateway.store.decision(params.id!.replace(/^chatcmpl-/, ""));
  const isTheirs = record && (caller.isAdmin || record.decision.owner === caller.owner);
  if (!isTheirs) throw noDecision();
  const view = decisionView(record);
  const { router, position } = record.decision;
  const [routed] = await gateway.store.routed(router, position - 1, 1);
  const sealed = await gateway.store.prompt(record.decision.id);
  const { key } = gateway.serving().config.store;
  return {
    ...view,
    ...presentView(gateway.serving().routers.get(router), record, routed?.x),
    ...(sealed && {
      prompt: unseal(sealed, record.decision.id, key ? readKey(key) : undefined),
    }),
  };
}

function modelList({ models, routers }: Serving) {
  const entry = (id: string, owner: string) => ({
    id,
    object: "model",
    created: 0,
    owned_by: owner,
  });
  return [
    ...[...routers.keys()].map((name) => entry(name, "joust")),
    ...[...models.values()].map(({ name, spec }) => {
      const { jsonSchema: json_schema, ...capabilities } = spec.capabilities;
      return {
        ...entry(name, spec.provider),
        ...(spec.price && { price: shownPrice(spec.price) }),
        capabilities: { ...capabilities, json_schema },
      };
    }),
  ];
}

function shownPrice({ input, output, cachedInput, cacheWrite }: Price) {
  return { input, output, cached_input: cachedInput, cache_write: cacheWrite };
}
