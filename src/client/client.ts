import type { z } from "zod";
import type * as admin from "../api/admin.ts";
import type { ChatChunk, ChatCompletion, ChatRequest } from "../api/chat.ts";
import type { Value } from "../api/common.ts";
import type {
  Decision,
  DecisionPage,
  DecisionsQuery,
  ExportQuery,
  RouteDecision,
} from "../api/decision.ts";
import type { FeedEvent } from "../api/event.ts";
import type {
  LearningCurve,
  MapQuery,
  PromptMap,
  Tradeoff,
  TradeoffQuery,
} from "../api/insight.ts";
import type { ListedModel, ModelList } from "../api/model.ts";
import type { Truth, Voters, VotersSettings } from "../api/sandbox.ts";
import type { SecondAnswer } from "../api/second.ts";
import type { Stats, StatsQuery } from "../api/stats.ts";
import type { VoteReceipt, VoteRequest } from "../api/vote.ts";
import { ApiError, ConnectionError, errorOf } from "./error.ts";
import { serverEvents } from "./server-events.ts";

export interface JoustClientOptions {
  /** Address of the gateway without `/v1`, for example `http://localhost:8080`. */
  readonly baseUrl: string;
  /** API key, or a function that returns it. The function is called for each request. */
  readonly apiKey?: string | (() => string | undefined) | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Is called with each error of the gateway before it is thrown. */
  readonly onError?: (error: ApiError) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

type Input<S extends z.ZodType> = Readonly<z.input<S>>;
type Query<S extends z.ZodType> = Partial<Value<S>>;

/** Conditions of a search for decisions. */
export type RequestQuery = Omit<Query<typeof DecisionsQuery>, "before" | "limit">;

/** HTTP client of a gateway. Methods throw `ApiError` or `ConnectionError`. */
export class JoustClient {
  readonly #options: JoustClientOptions;

  constructor(options: JoustClientOptions) {
    this.#options = options;
  }

  chat(request: ChatRequest, options?: CallOptions): Promise<ChatCompletion> {
    return this.#post("/v1/chat/completions", { ...request, stream: false }, options);
  }

  /** Chunks of a streamed chat completion. The first one has `joust`, with the decision's id. */
  async *stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatChunk> {
    const body = { ...request, stream: true };
    for await (const { data } of this.#events("/v1/chat/completions", body, options)) {
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data) as ChatChunk;
      if (chunk.error) throw new ApiError(502, chunk.error);
      yield chunk;
    }
    throw new ConnectionError("the response ended early");
  }

  /** Decides which model should answer, without calling it. */
  route(request: ChatRequest, options?: CallOptions): Promise<RouteDecision> {
    return this.#post("/v1/route", request, options);
  }

  /** The vote is on disk when this resolves. Sending it again is safe. */
  vote(request: VoteRequest, options?: CallOptions): Promise<VoteReceipt> {
    return this.#post("/v1/feedback", request, options);
  }

  /** Sends a vote until the gateway accepts or refuses it. `onRetry` is called with the error before each further attempt. */
  async castVote(
    request: VoteRequest,
    { onRetry, ...options }: CallOptions & { readonly onRetry?: (error: Error) => void } = {},
  ): Promise<VoteReceipt> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.vote(request, options);
      } catch (error) {
        const isRefused = error instanceof ApiError && !error.isTemporary;
        if (isRefused || options.signal?.aborted || !(error instanceof Error)) throw error;
        onRetry?.(error);
        const pause = error instanceof ApiError ? error.retryAfter : undefined;
        await new Promise((done) => setTimeout(done, pause ?? Math.min(5000, 300 * 2 ** attempt)));
      }
    }
  }

  /**
   * Votes on the last answer of a session of this key, like `castVote`. Other clients can send the
   * requests, if they send the header `x-joust-session-id`.
   */
  voteOnLast(
    sessionId: string,
    vote: Omit<VoteRequest, "id" | "session_id" | "last" | "vote_token">,
    options?: Parameters<JoustClient["castVote"]>[1],
  ): Promise<VoteReceipt> {
    return this.castVote({ ...vote, session_id: sessionId, last: true }, options);
  }

  /**
   * The second answer of a duel whose response has `joust.duel: "later"`, by the id of the answer or
   * decision, or by the id that the client chose. Waits until the model has answered. The type
   * parameter is the form of the first answer.
   */
  secondAnswer<A extends SecondAnswer = ChatCompletion>(
    id: string,
    { voteToken, ...options }: CallOptions & { readonly voteToken?: string | undefined } = {},
  ): Promise<A> {
    const token = voteToken === undefined ? {} : { "x-joust-vote-token": voteToken };
    const headers = { ...options.headers, ...token };
    const path = `/v1/decisions/${encodeURIComponent(id)}/second`;
    return this.#get(path, {}, { ...options, headers });
  }

  decisions(
    query: Query<typeof DecisionsQuery> = {},
    options?: CallOptions,
  ): Promise<DecisionPage> {
    return this.#get("/v1/decisions", query, options);
  }

  /** Downloads decisions as a CSV or JSON file. */
  async exportDecisions(
    query: Query<typeof ExportQuery> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return (await this.#send(withQuery("/v1/decisions/export", query), {}, options)).blob();
  }

  decision(id: string, options?: CallOptions): Promise<Decision> {
    return this.#get(`/v1/decisions/${encodeURIComponent(id)}`, {}, options);
  }

  models(options?: CallOptions): Promise<ModelList> {
    return this.#get("/v1/models", {}, options);
  }

  model(id: string, options?: CallOptions): Promise<ListedModel> {
    return this.#get(`/v1/models/${encodeURIComponent(id)}`, {}, options);
  }

  stats(query: Query<typeof StatsQuery> = {}, options?: CallOptions): Promise<Stats> {
    return this.#get("/v1/stats", query, options);
  }

  tradeoff(query: Query<typeof TradeoffQuery> = {}, options?: CallOptions): Promise<Tradeoff> {
    return this.#get("/v1/tradeoff", query, options);
  }

  learning(query: Query<typeof StatsQuery> = {}, options?: CallOptions): Promise<LearningCurve> {
    return this.#get("/v1/learning", query, options);
  }

  map(query: Query<typeof MapQuery> = {}, options?: CallOptions): Promise<PromptMap> {
    return this.#get("/v1/map", query, options);
  }

  /** Decisions, answers, votes and new posteriors as they happen. `onOpen` is called once connected. */
  async *events({
    onOpen,
    ...options
  }: CallOptions & { readonly onOpen?: () => void } = {}): AsyncGenerator<FeedEvent> {
    for await (const { name, data } of this.#events("/v1/events", undefined, options, onOpen)) {
      if (name !== "") yield { type: name, data: JSON.parse(data) } as FeedEvent;
    }
  }

  truth(options?: CallOptions): Promise<Truth> {
    return this.#get("/v1/sandbox/truth", {}, options);
  }

  voters(options?: CallOptions): Promise<Voters> {
    return this.#get("/v1/sandbox/voters", {}, options);
  }

  setVoters(settings: Input<typeof VotersSettings>, options?: CallOptions): Promise<Voters> {
    return this.#post("/v1/sandbox/voters", settings, options);
  }

  freeze(router: string, options?: CallOptions): Promise<Value<typeof admin.Frozen>> {
    return this.#post(controlOf(router, "freeze"), {}, options);
  }

  thaw(
    router: string,
    request: Input<typeof admin.ThawRequest> = {},
    options?: CallOptions,
  ): Promise<Value<typeof admin.Frozen>> {
    return this.#post(controlOf(router, "thaw"), request, options);
  }

  rollBack(
    router: string,
    request: Input<typeof admin.RollbackRequest>,
    options?: CallOptions,
  ): Promise<Value<typeof admin.RolledBack>> {
    return this.#post(controlOf(router, "rollback"), request, options);
  }

  forget(
    router: string,
    request: Input<typeof admin.ForgetRequest>,
    options?: CallOptions,
  ): Promise<Value<typeof admin.Forgotten>> {
    return this.#post(controlOf(router, "forget"), request, options);
  }

  keys(options?: CallOptions): Promise<Value<typeof admin.KeyList>> {
    return this.#get("/v1/admin/keys", {}, options);
  }

  addKey(
    request: Input<typeof admin.NewKey>,
    options?: CallOptions,
  ): Promise<Value<typeof admin.KeyWithSecret>> {
    return this.#post("/v1/admin/keys", request, options);
  }

  revokeKey(id: string, options?: CallOptions): Promise<admin.Key> {
    return this.#post(`/v1/admin/keys/${encodeURIComponent(id)}/revoke`, {}, options);
  }

  setBudget(
    id: string,
    request: Input<typeof admin.BudgetRequest>,
    options?: CallOptions,
  ): Promise<admin.Key> {
    return this.#post(`/v1/admin/keys/${encodeURIComponent(id)}/budget`, request, options);
  }

  setConcurrent(
    id: string,
    request: Input<typeof admin.ConcurrentRequest>,
    options?: CallOptions,
  ): Promise<admin.Key> {
    return this.#post(`/v1/admin/keys/${encodeURIComponent(id)}/concurrent`, request, options);
  }

  async #get<T>(path: string, query: object, options?: CallOptions): Promise<T> {
    const response = await this.#send(withQuery(path, query), {}, options);
    return (await response.json()) as T;
  }

  async #post<T>(path: string, body: object, options?: CallOptions): Promise<T> {
    return (await (await this.#send(path, bodyOf(body), options)).json()) as T;
  }

  async *#events(path: string, body?: object, options: CallOptions = {}, onOpen?: () => void) {
    const response = await this.#send(path, body ? bodyOf(body) : {}, options);
    onOpen?.();
    try {
      yield* serverEvents(response);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new ConnectionError("the gateway closed the connection", { cause: error });
    }
  }

  async #send(path: string, init: RequestInit, options: CallOptions = {}): Promise<Response> {
    const { baseUrl, apiKey, fetch: send = fetch, onError } = this.#options;
    const key = typeof apiKey === "function" ? apiKey() : apiKey;
    const headers = new Headers({ ...(init.headers as object), ...options.headers });
    if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
    const signal = options.signal ?? null;
    const response = await send(`${baseUrl}${path}`, { ...init, headers, signal }).catch(
      (error: unknown) => {
        if (signal?.aborted) throw error;
        const place = baseUrl === "" ? "" : ` at ${baseUrl}`;
        throw new ConnectionError(`the gateway${place} does not respond`, { cause: error });
      },
    );
    if (response.ok) return response;
    const error = await errorOf(response);
    onError?.(error);
    throw error;
  }
}

function withQuery(path: string, query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return [path, text.join("&")].filter(Boolean).join("?");
}

function bodyOf(body: object): RequestInit {
  const headers = { "content-type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body) };
}

function controlOf(router: string, action: string): string {
  return `/v1/admin/routers/${encodeURIComponent(router)}/${action}`;
}
