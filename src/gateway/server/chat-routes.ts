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
import {
  CountTokensRequest,
  MessageAnswer,
  MessageEvent,
  MessagesRequest,
  TokenCount,
} from "../../api/messages.ts";
import { ListedModel, ModelList, ModelParams } from "../../api/model.ts";
import { ResponseEvent, ResponseObject, ResponsesRequest } from "../../api/responses.ts";
import { resolve, type Serving } from "../routing/serving.ts";
import type { Client } from "../wire/client.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import { HttpError } from "../wire/http-error.ts";
import { type App, contract, type RawRequest, takingOver } from "./app.ts";
import { listModels } from "./model-list.ts";

type UnroutedEndpoint = "completions" | "embeddings";

/** Functions that handle requests with a prompt. All but `route` write the response themselves. */
export interface ChatHandlers {
  converse(dialect: DialectName, request: RawRequest, client: Client): Promise<void>;
  countTokens(request: RawRequest, client: Client): Promise<void>;
  /** Passes the request on to the model that it names. */
  pass(request: RawRequest, client: Client, endpoint: UnroutedEndpoint): Promise<void>;
  route(request: RawRequest): Promise<RouteDecision>;
}

export function addChatRoutes(app: App, handlers: ChatHandlers): void {
  const { converse, pass, route } = handlers;
  app.route({
    method: "POST",
    url: "/v1/chat/completions",
    ...contract({
      summary: "Answers with the most suitable model, or with two models to vote on.",
      scope: "route",
      body: ChatRequest,
      prompt: true,
      response: ChatCompletion,
      event: ChatChunk,
      errors: [404, 409, 502, 503, 504],
    }),
    ...takingOver((request, client) => converse("chat", request, client)),
  });
  app.route({
    method: "POST",
    url: "/v1/responses",
    ...contract({
      summary: "Answers with the most suitable model, in the form of OpenAI's Responses.",
      scope: "route",
      body: ResponsesRequest,
      prompt: true,
      response: ResponseObject,
      event: ResponseEvent,
      errors: [404, 409, 502, 503, 504],
      dialect: "responses",
    }),
    ...takingOver((request, client) => converse("responses", request, client)),
  });
  addMessagesRoutes(app, handlers);
  const addPassing = (endpoint: UnroutedEndpoint, summary: string, body: z.ZodObject) =>
    app.route({
      method: "POST",
      url: `/v1/${endpoint}`,
      ...contract({
        summary,
        scope: "route",
        body,
        prompt: true,
        response: ModelResponse,
        errors: [404, 502, 503, 504],
      }),
      ...takingOver((request, client) => pass(request, client, endpoint)),
    });
  addPassing("completions", "Completes a text with the model that is named.", CompletionRequest);
  addPassing("embeddings", "Embeds texts with the model that is named.", EmbeddingRequest);
  app.route({
    method: "POST",
    url: "/v1/route",
    ...contract({
      summary: "Decides which model should answer, without calling it.",
      scope: "route",
      body: ChatRequest,
      prompt: true,
      response: RouteDecision,
      errors: [404, 409],
    }),
    ...takingOver(async (request, client) =>
      client.send(200, {}, JSON.stringify(await route(request))),
    ),
  });
}

/** Adds the endpoints of Anthropic's API. */
function addMessagesRoutes(app: App, { converse, countTokens }: ChatHandlers): void {
  app.route({
    method: "POST",
    url: "/v1/messages",
    ...contract({
      summary: "Answers with the most suitable model, in the form of Anthropic's Messages.",
      scope: "route",
      body: MessagesRequest,
      prompt: true,
      response: MessageAnswer,
      event: MessageEvent,
      errors: [404, 409, 502, 503, 504],
      dialect: "messages",
    }),
    ...takingOver((request, client) => converse("messages", request, client)),
  });
  app.route({
    method: "POST",
    url: "/v1/messages/count_tokens",
    ...contract({
      summary: "Counts the tokens of a prompt, or estimates them.",
      scope: "route",
      body: CountTokensRequest,
      prompt: true,
      response: TokenCount,
      errors: [404],
      dialect: "messages",
    }),
    ...takingOver(countTokens),
  });
}

export function addModelRoutes(app: App, serving: () => Serving): void {
  app.get(
    "/v1/models",
    contract({ summary: "Lists routers and models.", scope: "route", response: ModelList }),
    ({ caller }) => ({ object: "list" as const, data: listModels(serving(), caller) }),
  );
  app.get(
    "/v1/models/:id",
    contract({
      summary: "Shows one router or model.",
      scope: "route",
      params: ModelParams,
      response: ListedModel,
    }),
    ({ caller, params }) => {
      const { name } = resolve(caller, serving(), params.id);
      const listed = listModels(serving(), caller);
      const entry = listed.find(({ id }) => id === name);
      if (entry) return entry;
      // To a key with a list of models, the others do not exist.
      throw new HttpError(404, `the model \`${params.id}\` does not exist`, {
        hint: `known names: ${listed.map(({ id }) => id).join(", ")}`,
        code: "model_not_found",
        param: "model",
      });
    },
  );
}
