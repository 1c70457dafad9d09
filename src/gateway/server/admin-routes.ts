import { Frozen, RollbackRequest, RolledBack, RouterParams, ThawRequest } from "../../api/admin.ts";
import { freeze, rollBack, thaw } from "../../learner/controls.ts";
import { routerNamed, type Serving } from "../routing/serving.ts";
import { type App, contract } from "./app.ts";
import { withParam } from "./at-fault.ts";
import { addKeyRoutes, type KeyRouteParts } from "./key-routes.ts";
import { addVoterRoutes } from "./voter-routes.ts";

export interface AdminParts extends Omit<KeyRouteParts, "serving"> {
  readonly serving: () => Serving;
}

/** Adds the endpoints for operators: control of learning, voters, and API keys. */
export function addAdminRoutes(app: App, parts: AdminParts): void {
  addLearningRoutes(app, parts);
  addVoterRoutes(app, parts);
  addKeyRoutes(app, parts);
}

const CONTROL = { scope: "admin", params: RouterParams } as const;

function addLearningRoutes(app: App, { serving, store, clock, audit }: AdminParts): void {
  const nameOf = (router: string) => routerNamed(serving(), router).name;
  app.post(
    "/v1/admin/routers/:router/freeze",
    contract({
      ...CONTROL,
      summary: "Stops learning. Votes are still logged.",
      response: Frozen,
      errors: [413],
    }),
    async ({ caller, params }) => {
      const router = nameOf(params.router);
      await withParam("router", freeze(store, router, clock.date()));
      await audit.save(caller, { action: "router.freeze", target: router });
      return { router, frozen: true };
    },
  );
  app.post(
    "/v1/admin/routers/:router/thaw",
    contract({
      ...CONTROL,
      summary: "Resumes learning.",
      body: ThawRequest,
      response: Frozen,
    }),
    async ({ caller, params, body }) => {
      const router = nameOf(params.router);
      await withParam("router", thaw(store, router, clock.date(), body.learn));
      await audit.save(caller, { action: "router.thaw", target: router, after: body });
      return { router, frozen: false };
    },
  );
  app.post(
    "/v1/admin/routers/:router/rollback",
    contract({
      ...CONTROL,
      summary: "Undoes permanently what was learned after a time, or after a position of the log.",
      body: RollbackRequest,
      response: RolledBack,
    }),
    async ({ caller, params, body }) => {
      const router = nameOf(params.router);
      const { to, position } = body;
      const target = to === undefined ? { position: position! } : { time: Date.parse(to) };
      const undone = await withParam(
        to === undefined ? "position" : "to",
        rollBack(store, router, target, clock.date()),
      );
      const after = { ...body, undone };
      await audit.save(caller, { action: "router.rollback", target: router, after });
      return { router, undone };
    },
  );
}
