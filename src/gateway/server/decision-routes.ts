import { Readable } from "node:stream";
import { z } from "zod";
import {
  Decision,
  DecisionPage,
  DecisionParams,
  DecisionsQuery,
  ExportQuery,
} from "../../api/decision.ts";
import { SecondAnswer } from "../../api/second.ts";
import { VoteReceipt, VoteRequest } from "../../api/vote.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import { readKey, unseal } from "../../store/seal.ts";
import type { Cursor, Store } from "../../store/store.ts";
import type { Access } from "../access/access.ts";
import { fetchSecond, type SecondParts } from "../feedback/fetch-second.ts";
import { findDecision } from "../feedback/find-decision.ts";
import { readVote } from "../feedback/vote-body.ts";
import { receiveVote, type VoteParts } from "../feedback/votes.ts";
import { decisionView, presentView } from "../insight/decision-view.ts";
import { exportRequests } from "../insight/export.ts";
import { searchRequests } from "../insight/search.ts";
import { withStoredAnswer } from "../insight/stored-answer.ts";
import { logged } from "../log/logged.ts";
import type { StoredResponses } from "../log/stored-responses.ts";
import type { Serving } from "../routing/serving.ts";
import { ANONYMOUS } from "./admission.ts";
import { type App, contract } from "./app.ts";
import { noDecision } from "./error-response.ts";
import { TOKEN_HEADER } from "./known-headers.ts";

export interface DecisionParts {
  readonly store: Pick<Store, "decision" | "decisionNamed" | "prompt" | "search">;
  readonly log: Pick<GroupCommit, "stats" | "flush">;
  readonly serving: () => Serving;
  readonly responses: Pick<StoredResponses, "read">;
}

export function addDecisionRoutes(app: App, parts: DecisionParts): void {
  const { store, log, serving, responses } = parts;
  app.get(
    "/v1/decisions",
    contract({
      summary: "Searches decisions, newest first. A key sees its own.",
      scope: "route",
      querystring: DecisionsQuery,
      response: DecisionPage,
    }),
    async ({ caller, query }) => {
      const before = query.before === undefined ? undefined : cursorOf(query.before);
      await logged(log);
      const { data, next } = await searchRequests(store, caller, query, { ...query, before });
      return {
        object: "list" as const,
        data,
        ...(next && {
          next: `${next.at}.${next.id}`,
          searched_to: new Date(next.at).toISOString(),
        }),
      };
    },
  );
  app.get(
    "/v1/decisions/export",
    contract({
      summary: "Exports decisions as a CSV or JSON file, newest first. A key exports its own.",
      scope: "route",
      querystring: ExportQuery,
      response: z.array(Decision).describe("An array of decisions, or a CSV file."),
      csv: z.string(),
    }),
    async ({ caller, query }, reply) => {
      await logged(log);
      const name = `joust-requests.${query.format}`;
      reply.header("content-disposition", `attachment; filename="${name}"`);
      reply.type(query.format === "csv" ? "text/csv; charset=utf-8" : "application/json");
      // The stream reads the next page when the client has taken the previous one.
      return reply.send(
        Readable.from(exportRequests(store, caller, query, query), { objectMode: true }) as never,
      );
    },
  );
  app.get(
    "/v1/decisions/:id",
    contract({
      summary: "Shows one decision. The models of a duel are hidden until the vote.",
      scope: "route",
      params: DecisionParams,
      response: Decision,
    }),
    async ({ caller, params: { id } }) => {
      const { record } = await findDecision({ store, log }, caller.owner, id);
      const isOwn = caller.isAdmin || record?.decision.owner === caller.owner;
      if (!record || !isOwn) throw noDecision();
      const { id: decision, router, x } = record.decision;
      const sealed = await store.prompt(decision);
      const { config, routers } = serving();
      const key = config.store.key === undefined ? undefined : readKey(config.store.key);
      return {
        ...(await withStoredAnswer(responses, record.decision, decisionView(record))),
        ...presentView(routers.get(router), record, x),
        ...(sealed && { prompt: unseal(sealed, decision, key) }),
      };
    },
  );
}

export interface SecondRouteParts extends SecondParts {
  readonly access: Pick<Access, "admit">;
  readonly serving: () => Serving;
}

/** Adds the endpoint for second answers of duels whose clients got the first one at once. */
export function addSecondRoute(app: App, parts: SecondRouteParts): void {
  app.get(
    "/v1/decisions/:id/second",
    contract({
      summary: "Fetches the second answer of a duel, in the dialect of its request.",
      scope: "route",
      byToken: true,
      params: DecisionParams,
      response: SecondAnswer,
    }),
    async ({ caller, params: { id }, headers }) => {
      const token = headers[TOKEN_HEADER]?.toString();
      // Throws: a request without a token needs a key.
      if (caller === ANONYMOUS && token === undefined)
        await parts.access.admit(headers, "route", "GET");
      const lifetime = DAY_MS * parts.serving().config.store.vote_token_days;
      return JSON.parse(await fetchSecond(parts, caller, { id, token }, lifetime)) as never;
    },
  );
}

export interface VoteRouteParts extends Omit<VoteParts, "config"> {
  readonly access: Pick<Access, "admit">;
  readonly serving: () => Serving;
}

/** Adds the endpoint for votes under its own name and under TensorZero's. */
export function addVoteRoutes(app: App, parts: VoteRouteParts): void {
  for (const path of ["/v1/feedback", "/feedback"]) {
    app.post(
      path,
      contract({
        summary: "Votes on a duel, or rates one answer. Sending the same vote again is safe.",
        scope: "vote",
        byToken: true,
        body: VoteRequest,
        response: VoteReceipt,
        errors: [404, 409],
      }),
      async ({ caller, body, headers }) => {
        const token = body.vote_token ?? headers[TOKEN_HEADER]?.toString();
        // Throws: a request without a token needs a key.
        if (caller === ANONYMOUS && token === undefined)
          await parts.access.admit(headers, "vote", "POST");
        const config = () => parts.serving().config;
        const vote = readVote({ ...body, vote_token: token }, config().metrics);
        return receiveVote({ ...parts, config }, caller, vote);
      },
    );
  }
}

/** Reads the member `next` of a page: time and id of its last decision. */
function cursorOf(next: string): Cursor {
  const dot = next.indexOf(".");
  return { at: Number(next.slice(0, dot)), id: next.slice(dot + 1) };
}
