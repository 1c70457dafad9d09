import { z } from "zod";
import { Health, Readiness } from "../../api/common.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import { collect, type GaugeSources } from "../insight/collect.ts";
import type { Peers } from "../peers/peers.ts";
import { sumMetrics } from "../telemetry/metrics.ts";
import { HttpError } from "../wire/http-error.ts";
import { type AdminParts, addAdminRoutes } from "./admin-routes.ts";
import { type App, contract } from "./app.ts";
import { addChatRoutes, addModelRoutes, type ChatHandlers } from "./chat-routes.ts";
import { addConfigurationRoutes, type ConfigurationParts } from "./configuration-routes.ts";
import {
  addDecisionRoutes,
  addSecondRoute,
  addVoteRoutes,
  type DecisionParts,
  type SecondRouteParts,
  type VoteRouteParts,
} from "./decision-routes.ts";
import { addInsightRoutes, type InsightParts } from "./insight-routes.ts";
import { addProviderRoutes, type ProviderParts } from "./provider-routes.ts";
import { addResponseRoutes, type ResponseParts } from "./response-routes.ts";
import { addSandboxRoutes, type SandboxParts } from "./sandbox-routes.ts";
import { addSessionRoutes, type SessionParts } from "./session-routes.ts";
import { addSystemRoutes, type SystemParts } from "./system-routes.ts";

/** Parts of the gateway that the endpoints use. Each group of endpoints declares its own. */
export type RouteParts = VoteRouteParts &
  SecondRouteParts &
  DecisionParts &
  InsightParts &
  SandboxParts &
  AdminParts &
  SessionParts &
  ConfigurationParts &
  ProviderParts &
  SystemParts &
  ResponseParts &
  OperationParts & { readonly handlers: ChatHandlers };

export function addRoutes(app: App, parts: RouteParts): void {
  addChatRoutes(app, parts.handlers);
  addResponseRoutes(app, parts);
  addVoteRoutes(app, parts);
  addDecisionRoutes(app, parts);
  addSecondRoute(app, parts);
  addModelRoutes(app, parts.serving);
  addInsightRoutes(app, parts);
  addSandboxRoutes(app, parts);
  addSessionRoutes(app, parts);
  addAdminRoutes(app, parts);
  addConfigurationRoutes(app, parts);
  addProviderRoutes(app, parts);
  addSystemRoutes(app, parts);
  addOperationRoutes(app, parts);
}

interface OperationParts extends GaugeSources {
  readonly log: GroupCommit;
  /** Aborts before the gateway shuts down, while it still answers. */
  readonly leaving: AbortSignal;
  readonly peers: Peers;
}

/** Adds the endpoints for load balancers and Prometheus. */
function addOperationRoutes(app: App, parts: OperationParts): void {
  const { log, leaving, metrics, peers } = parts;
  app.get(
    "/healthz",
    contract({ summary: "Tells whether the process is alive.", response: Health }),
    () => ({ status: "ok" as const }),
  );
  app.get(
    "/readyz",
    contract({
      summary: "Tells whether this node accepts requests.",
      response: Readiness,
      errors: [503],
    }),
    () => {
      if (leaving.aborted) {
        throw new HttpError(503, "this node is shutting down", { hint: "use another node" });
      }
      return {
        status: "ready" as const,
        store: log.stats.down ? ("down" as const) : ("up" as const),
      };
    },
  );
  app.get(
    "/metrics",
    contract({
      summary: "Metrics for Prometheus.",
      scope: "metrics",
      response: z.string().describe("The text format of Prometheus."),
      contentType: "text/plain",
    }),
    async (_, reply) => {
      reply.type(metrics.registry.contentType);
      if (peers.count > 1) return sumMetrics(await peers.metrics());
      await collect(parts);
      return metrics.registry.metrics();
    },
  );
}
