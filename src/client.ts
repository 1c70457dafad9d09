/** Typed HTTP client of a gateway, for browsers and Node. */
export type { Key } from "./api/admin.ts";
export type {
  ChatChunk,
  ChatCompletion,
  ChatRequest,
  RoutingNote,
  RoutingOptions,
} from "./api/chat.ts";
export type { Band, Fallback } from "./api/common.ts";
export type {
  AuditRecord,
  Configuration,
  ConfigurationChange,
  RouterPreview,
} from "./api/configuration.ts";
export type {
  Decision,
  DecisionAnswer,
  DecisionPage,
  RouteDecision,
  Score,
} from "./api/decision.ts";
export type { FeedEvent } from "./api/event.ts";
export type { LearningCurve, MapPoint, PromptMap, Tradeoff, TradeoffPoint } from "./api/insight.ts";
export type { ListedModel, ModelList } from "./api/model.ts";
export type { ProviderTest } from "./api/providers.ts";
export type { Stage, Truth, Voters } from "./api/sandbox.ts";
export type { SecondAnswer } from "./api/second.ts";
export type { Session } from "./api/session.ts";
export type { ModelCounts, SeriesPoint, Standing, Stats } from "./api/stats.ts";
export type { VoteReceipt, VoteRequest } from "./api/vote.ts";
export type { Voter, VoterList } from "./api/voters.ts";
export { JoustClient, type RequestQuery } from "./client/client.ts";
export { ApiError, ConnectionError } from "./client/error.ts";
export type { CallOptions, JoustClientOptions } from "./client/http-client.ts";
