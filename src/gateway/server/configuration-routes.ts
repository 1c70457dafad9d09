import { z } from "zod";
import {
  AuditList,
  AuditQuery,
  ChangeRequest,
  Configuration,
  Preview,
  PreviewRequest,
  RevertRequest,
} from "../../api/configuration.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Store } from "../../store/store.ts";
import type { Administration } from "../administration/administration.ts";
import { shownRecord } from "../administration/audit.ts";
import { withVoters } from "../administration/audited-voters.ts";
import { yamlOf } from "../administration/export.ts";
import type { Clock } from "../clock/clock.ts";
import { previewOf } from "../insight/preview.ts";
import { logged } from "../log/logged.ts";
import type { Serving } from "../routing/serving.ts";
import { type App, contract } from "./app.ts";

export interface ConfigurationParts {
  readonly administration: Administration;
  readonly store: Pick<Store, "audit" | "controls" | "decisions">;
  readonly log: Pick<GroupCommit, "stats" | "flush">;
  readonly serving: () => Serving;
  readonly clock: Clock;
}

/** Adds the endpoints that show and change the configuration, and the audit log. */
export function addConfigurationRoutes(app: App, parts: ConfigurationParts): void {
  const { administration, store, log, serving, clock } = parts;
  app.get(
    "/v1/admin/configuration",
    contract({
      summary: "Shows the configuration without its secrets.",
      scope: "admin",
      response: Configuration,
    }),
    () => administration.shown(),
  );
  app.post(
    "/v1/admin/configuration",
    contract({
      summary: "Changes entries of a configuration that is managed in the store.",
      scope: "admin",
      body: ChangeRequest,
      response: Configuration,
      errors: [409],
    }),
    async ({ caller, body }) => {
      await administration.change(caller, body.based_on, body.changes);
      return administration.shown();
    },
  );
  app.post(
    "/v1/admin/configuration/preview",
    contract({
      summary:
        "Checks changes without saving them, and shows their effect on last week's requests.",
      scope: "admin",
      body: PreviewRequest,
      response: Preview,
      errors: [409],
    }),
    async ({ body }) => {
      const next = await administration.proposed(body.changes);
      await logged(log);
      const routers = await previewOf(store, serving(), next, clock.date());
      return { object: "preview" as const, routers };
    },
  );
  app.post(
    "/v1/admin/configuration/revert",
    contract({
      summary: "Makes an earlier revision of the configuration the newest one.",
      scope: "admin",
      body: RevertRequest,
      response: Configuration,
      errors: [404, 409],
    }),
    async ({ caller, body }) => {
      const kept = await administration.revert(caller, body.based_on, body.revision);
      return { ...administration.shown(), kept_secrets: [...kept] };
    },
  );
  app.get(
    "/v1/admin/configuration/export",
    contract({
      summary: "Exports the configuration as joust.yaml, without secrets.",
      scope: "admin",
      response: z.string().describe("A joust.yaml."),
      contentType: "application/yaml",
      errors: [409],
    }),
    (_, reply) => {
      const { document, revision } = administration.exported();
      reply.header("content-disposition", 'attachment; filename="joust.yaml"');
      reply.type("application/yaml; charset=utf-8");
      return yamlOf(document, revision);
    },
  );
  app.get(
    "/v1/admin/audit",
    contract({
      summary: "Lists the changes that operators made, newest first.",
      scope: "admin",
      querystring: AuditQuery,
      response: AuditList,
    }),
    async ({ query }) => ({
      object: "list" as const,
      data: (await withVoters(store, await store.audit(query))).map(shownRecord),
    }),
  );
}
