import { type AdminParts, addAdminRoutes } from "./admin-routes.ts";
import type { App } from "./app.ts";
import { addChatRoutes, type ChatHandlers } from "./chat-routes.ts";
import { addDecisionRoutes, type DecisionParts } from "./decision-routes.ts";
import { addInsightRoutes, type InsightParts } from "./insight-routes.ts";
import { addModelRoutes } from "./model-routes.ts";
import { addOperationRoutes, type OperationParts } from "./operation-routes.ts";
import { addSandboxRoutes, type SandboxParts } from "./sandbox-routes.ts";
import { addVoteRoutes, type VoteRouteParts } from "./vote-routes.ts";

/** Parts of the gateway that the endpoints use. Each group of endpoints declares its own. */
export type RouteParts = VoteRouteParts &
  DecisionParts &
  InsightParts &
  SandboxParts &
  AdminParts &
  OperationParts & { readonly handlers: ChatHandlers };

/** Adds all endpoints. */
export function addRoutes(app: App, parts: RouteParts): void {
  addChatRoutes(app, parts.handlers);
  addVoteRoutes(app, parts);
  addDecisionRoutes(app, parts);
  addModelRoutes(app, parts.serving);
  addInsightRoutes(app, parts);
  addSandboxRoutes(app, parts);
  addAdminRoutes(app, parts);
  addOperationRoutes(app, parts);
}
