import type { z } from "zod";
import {
  ChatChunk,
  ChatCompletion,
  ChatRequest,
  CompletionRequest,
  EmbeddingRequest,
  ModelResponse,
} from "../../api/chat.ts";
import { RouteDecision } from "../../api/decision.ts";
import type { Client } from "../wire/client.ts";
import { type App, contract, type RawRequest, rawOf, writing } from "./app.ts";

/** Functions that handle requests with a prompt. All but `route` write the response themselves. */
export interface ChatHandlers {
  chat(request: RawRequest, client: Client): Promise<void>;
  /** Passes the request on to the model that it names. */
  pass(request: RawRequest, client: Client, endpoint: "completions" | "embeddings"): Promise<void>;
  route(request: RawRequest): Promise<RouteDecision>;
}

export function addChatRoutes(app: App, { chat, pass, route }: ChatHandlers): void {
  app.post(
    "/v1/chat/completions",
    contract({
      prompt: true,
      summary: "Answers with the most suitable model, or with two models to vote on.",
      scope: "route",
      body: ChatRequest,
      response: ChatCompletion,
      event: ChatChunk,
      errors: [404, 502, 503, 504],
    }),
    writing(chat),
  );
  const addPassing = (
    endpoint: "completions" | "embeddings",
    summary: string,
    body: z.ZodObject,
  ) => {
    app.post(
      `/v1/${endpoint}`,
      contract({
        prompt: true,
        summary,
        scope: "route",
        body,
        response: ModelResponse,
        errors: [404, 502, 503, 504],
      }),
      writing((request, client) => pass(request, client, endpoint)),
    );
  };
  addPassing("completions", "Completes a text with the model that is named.", CompletionRequest);
  addPassing("embeddings", "Embeds texts with the model that is named.", EmbeddingRequest);
  app.post(
    "/v1/route",
    contract({
      prompt: true,
      summary: "Decides which model should answer, without asking it.",
      scope: "route",
      body: ChatRequest,
      response: RouteDecision,
      errors: [404],
    }),
    (request) => route(rawOf(request)),
  );
}
