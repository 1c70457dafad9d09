import { z } from "zod";
import { Health, Readiness } from "../../api/health.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import { HttpError } from "../errors/http-error.ts";
import { collect, type GaugeSources } from "../insight/collect.ts";
import { type App, contract } from "./app.ts";

export interface OperationParts extends GaugeSources {
  readonly log: GroupCommit;
  readonly closing: AbortSignal;
}

/** Adds the endpoints for load balancers and Prometheus. */
export function addOperationRoutes(app: App, parts: OperationParts): void {
  const { log, closing, metrics } = parts;
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
      if (closing.aborted) {
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
      scope: "admin",
      response: z.string().describe("The text format of Prometheus."),
      contentType: "text/plain",
    }),
    async (_, reply) => {
      await collect(parts);
      reply.type(metrics.registry.contentType);
      return metrics.registry.metrics();
    },
  );
}
