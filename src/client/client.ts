import type { z } from "zod";
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
import type { Session } from "../api/session.ts";
import type { Stats, StatsQuery } from "../api/stats.ts";
import type { VoteReceipt, VoteRequest } from "../api/vote.ts";
import { AdminClient } from "./admin-client.ts";
import { ApiError, ConnectionError } from "./error.ts";
import { type CallOptions, withQuery } from "./http-client.ts";

type Input<S extends z.ZodType> = Readonly<z.input<S>>;
type Query<S extends z.ZodType> = Partial<Value<S>>;

/** Conditions of a search for decisions. */
export type RequestQuery = Omit<Query<typeof DecisionsQuery>, "before" | "limit">;

/** HTTP client of a gateway. Methods throw `ApiError` or `ConnectionError`. */
export class JoustClient extends AdminClient {
  chat(request: ChatRequest, options?: CallOptions): Promise<ChatCompletion> {
    return this.post("/v1/chat/completions", { ...request, stream: false }, options);
  }

  /** Chunks of a streamed chat completion. The first one has `joust`, with the decision's id. */
  async *stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatChunk> {
    const body = { ...request, stream: true };
    for await (const { data } of this.serverEvents("/v1/chat/completions", body, options)) {
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data) as ChatChunk;
      if (chunk.error) throw new ApiError(502, chunk.error);
      yield chunk;
    }
    throw new ConnectionError("the response ended early");
  }

  /** Decides which model should answer, without calling it. */
  route(request: ChatRequest, options?: CallOptions): Promise<RouteDecision> {
    return this.post("/v1/route", request, options);
  }

  /** The vote is on disk when this resolves. Sending it again is safe. */
  vote(request: VoteRequest, options?: CallOptions): Promise<VoteReceipt> {
    return this.post("/v1/feedback", request, options);
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
        const isOver = error instanceof ApiError && !error.isTemporary;
        const isKnown = error instanceof ApiError || error instanceof ConnectionError;
        if (!isKnown || isOver || options.signal?.aborted) throw error;
        onRetry?.(error);
        const pause = error instanceof ApiError ? error.retryAfter : undefined;
        await wait(pause ?? Math.min(5000, 300 * 2 ** attempt), options.signal);
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
    return this.get(path, {}, { ...options, headers });
  }

  decisions(
    query: Query<typeof DecisionsQuery> = {},
    options?: CallOptions,
  ): Promise<DecisionPage> {
    return this.get("/v1/decisions", query, options);
  }

  /** Downloads decisions as a CSV or JSON file. */
  async exportDecisions(
    query: Query<typeof ExportQuery> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return (await this.send(withQuery("/v1/decisions/export", query), {}, options)).blob();
  }

  decision(id: string, options?: CallOptions): Promise<Decision> {
    return this.get(`/v1/decisions/${encodeURIComponent(id)}`, {}, options);
  }

  models(options?: CallOptions): Promise<ModelList> {
    return this.get("/v1/models", {}, options);
  }

  model(id: string, options?: CallOptions): Promise<ListedModel> {
    return this.get(`/v1/models/${encodeURIComponent(id)}`, {}, options);
  }

  stats(query: Query<typeof StatsQuery> = {}, options?: CallOptions): Promise<Stats> {
    return this.get("/v1/stats", query, options);
  }

  tradeoff(query: Query<typeof TradeoffQuery> = {}, options?: CallOptions): Promise<Tradeoff> {
    return this.get("/v1/tradeoff", query, options);
  }

  learning(query: Query<typeof StatsQuery> = {}, options?: CallOptions): Promise<LearningCurve> {
    return this.get("/v1/learning", query, options);
  }

  map(query: Query<typeof MapQuery> = {}, options?: CallOptions): Promise<PromptMap> {
    return this.get("/v1/map", query, options);
  }

  /** Decisions, answers, votes and new posteriors as they happen. `onOpen` is called once connected. */
  async *events({
    onOpen,
    ...options
  }: CallOptions & { readonly onOpen?: () => void } = {}): AsyncGenerator<FeedEvent> {
    for await (const { name, data } of this.serverEvents(
      "/v1/events",
      undefined,
      options,
      onOpen,
    )) {
      if (name !== "") yield { type: name, data: JSON.parse(data) } as FeedEvent;
    }
  }

  truth(options?: CallOptions): Promise<Truth> {
    return this.get("/v1/sandbox/truth", {}, options);
  }

  voters(options?: CallOptions): Promise<Voters> {
    return this.get("/v1/sandbox/voters", {}, options);
  }

  setVoters(settings: Input<typeof VotersSettings>, options?: CallOptions): Promise<Voters> {
    return this.post("/v1/sandbox/voters", settings, options);
  }

  /** Whether a key is required, and whether this browser is signed in. */
  session(options?: CallOptions): Promise<Session> {
    return this.get("/v1/session", {}, options);
  }

  /** Signs a browser in. The browser keeps the session in a cookie; `csrf` must be sent with each POST and DELETE. */
  signIn(key: string, options?: CallOptions): Promise<Session> {
    return this.post("/v1/session", { key }, options);
  }

  async signOut(options?: CallOptions): Promise<Session> {
    const response = await this.send("/v1/session", { method: "DELETE" }, options);
    return (await response.json()) as Session;
  }
}

/** Waits for a time. Rejects as soon as the signal is aborted. */
async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = () => {};
  try {
    await new Promise<void>((done, fail) => {
      onAbort = () => fail(signal!.reason);
      timer = setTimeout(done, milliseconds);
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) onAbort();
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
