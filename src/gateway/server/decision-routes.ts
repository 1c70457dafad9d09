import { Decision, DecisionPage, DecisionParams, DecisionsQuery } from "../../api/decision.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import { readKey, unseal } from "../../store/seal.ts";
import type { Store } from "../../store/store.ts";
import { decisionView, presentView } from "../insight/decision-view.ts";
import { logged } from "../log/logged.ts";
import type { Serving } from "../routing/serving.ts";
import { type App, contract } from "./app.ts";
import { noDecision } from "./error-response.ts";

export interface DecisionParts {
  readonly store: Pick<Store, "decision" | "decisions" | "prompt" | "routed">;
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
      const { router, session_id: session, before, limit } = query;
      await logged(log);
      const owner = caller.isAdmin ? undefined : caller.owner;
      const page = await store.decisions({ router, session, before, limit, owner });
      const next = page.length === limit ? page.at(-1)!.decision.position : undefined;
      return {
        object: "list" as const,
        data: page.map(decisionView),
        ...(next !== undefined && { next }),
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
      const record = await store.decision(id.replace(/^chatcmpl-/, ""));
      const isOwn = caller.isAdmin || record?.decision.owner === caller.owner;
      if (!record || !isOwn) throw noDecision();
      const { id: decision, router, position } = record.decision;
      const [routed] = await store.routed(router, position - 1, 1);
      const sealed = await store.prompt(decision);
      const { config, routers } = serving();
      const key = config.store.key === undefined ? undefined : readKey(config.store.key);
      return {
        ...decisionView(record),
        ...presentView(routers.get(router), record, routed?.x),
        ...(sealed && { prompt: unseal(sealed, decision, key) }),
      };
    },
  );
}
