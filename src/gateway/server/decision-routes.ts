import { Decision, DecisionPage, DecisionParams, DecisionsQuery } from "../../api/decision.ts";
import { VoteReceipt, VoteRequest } from "../../api/vote.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import { readKey, unseal } from "../../store/seal.ts";
import type { Cursor, Store } from "../../store/store.ts";
import type { Access } from "../access/access.ts";
import { readVote } from "../feedback/vote-body.ts";
import { receiveVote, type VoteParts } from "../feedback/votes.ts";
import { decisionView, presentView } from "../insight/decision-view.ts";
import { logged } from "../log/logged.ts";
import type { Serving } from "../routing/serving.ts";
import { ANONYMOUS } from "./admission.ts";
import { type App, contract } from "./app.ts";
import { noDecision } from "./error-response.ts";

export interface DecisionParts {
  readonly store: Pick<Store, "decision" | "decisions" | "prompt">;
  readonly log: Pick<GroupCommit, "stats" | "flush">;
  readonly serving: () => Serving;
}

export function addDecisionRoutes(app: App, { store, log, serving }: DecisionParts): void {
  app.get(
    "/v1/decisions",
    contract({
      summary: "Lists decisions, newest first. A key sees its own.",
      scope: "route",
      querystring: DecisionsQuery,
      response: DecisionPage,
    }),
    async ({ caller, query }) => {
      const { router, session_id: session, limit } = query;
      const before = query.before === undefined ? undefined : cursorOf(query.before);
      await logged(log);
      const owner = caller.isAdmin ? undefined : caller.owner;
      const page = await store.decisions({ router, session, before, limit, owner });
      const last = page.length === limit ? page.at(-1)!.decision : undefined;
      return {
        object: "list" as const,
        data: page.map(decisionView),
        ...(last && { next: `${last.at}.${last.id}` }),
      };
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
      await logged(log);
      const record = await store.decision(id.replace(/^(chatcmpl-|msg_|resp_)/, ""));
      const isOwn = caller.isAdmin || record?.decision.owner === caller.owner;
      if (!record || !isOwn) throw noDecision();
      const { id: decision, router, x } = record.decision;
      const sealed = await store.prompt(decision);
      const { config, routers } = serving();
      const key = config.store.key === undefined ? undefined : readKey(config.store.key);
      return {
        ...decisionView(record),
        ...presentView(routers.get(router), record, x),
        ...(sealed && { prompt: unseal(sealed, decision, key) }),
      };
    },
  );
}

export interface VoteRouteParts extends VoteParts {
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
        const token = body.vote_token ?? headers["x-joust-vote-token"]?.toString();
        // Throws: a request without a token needs a key.
        if (caller === ANONYMOUS && token === undefined) await parts.access.admit(headers, "vote");
        return receiveVote(
          parts,
          caller,
          readVote({ ...body, vote_token: token }, parts.serving().config.metrics),
        );
      },
    );
  }
}

/** Reads the member `next` of a page: time and id of its last decision. */
function cursorOf(next: string): Cursor {
  const dot = next.indexOf(".");
  return { at: Number(next.slice(0, dot)), id: next.slice(dot + 1) };
}
