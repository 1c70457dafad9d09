import { ForgetRequest, Forgotten, RouterParams } from "../../api/admin.ts";
import { VoterList, VotersQuery, Weighed, WeighRequest } from "../../api/voters.ts";
import { forget, weigh } from "../../learner/controls.ts";
import type { Store } from "../../store/store.ts";
import type { Audit } from "../administration/audit.ts";
import { WEIGHING } from "../administration/audited-voters.ts";
import type { Clock } from "../clock/clock.ts";
import { voterList } from "../insight/voters.ts";
import { routerNamed, type Serving } from "../routing/serving.ts";
import { type App, contract } from "./app.ts";
import { withParam } from "./at-fault.ts";

export interface VoterRouteParts {
  readonly serving: () => Serving;
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
}

const CONTROL = { scope: "admin", params: RouterParams } as const;

/** Adds the endpoints that list the voters of a router, weigh and forget them. */
export function addVoterRoutes(app: App, { serving, store, clock, audit }: VoterRouteParts): void {
  app.get(
    "/v1/admin/routers/:router/voters",
    contract({
      ...CONTROL,
      summary:
        "Lists the voters of a router by name, with their votes and how the learner judges them.",
      querystring: VotersQuery,
      response: VoterList,
    }),
    ({ params, query }) => voterList(store, routerNamed(serving(), params.router), query),
  );
  app.post(
    "/v1/admin/routers/:router/weigh",
    contract({
      ...CONTROL,
      summary: "Sets the weight of a voter; 0 excludes the voter, 1 includes the voter again.",
      body: WeighRequest,
      response: Weighed,
    }),
    async ({ caller, params, body }) => {
      const router = routerNamed(serving(), params.router).name;
      const change = await withParam("voter", weigh(store, router, body, clock.date()));
      const { before, weight, position } = change;
      // The audit log names the event, which has the name of the voter until the voter is forgotten.
      if (position !== undefined) {
        await audit.save(caller, {
          action: WEIGHING,
          target: router,
          before: { weight: before },
          after: { weight, position },
        });
      }
      return { router, voter: body.voter, weight, before };
    },
  );
  app.post(
    "/v1/admin/routers/:router/forget",
    contract({
      ...CONTROL,
      summary: "Erases all votes of a voter and what was learned from them.",
      body: ForgetRequest,
      response: Forgotten,
    }),
    async ({ caller, params, body }) => {
      const router = routerNamed(serving(), params.router).name;
      // The name of the voter is forgotten too.
      const record = (votes: number) =>
        audit.save(caller, {
          action: "router.forget",
          target: router,
          after: { forgotten: votes },
        });
      const erasure = forget(store, router, body.voter, clock.date(), record);
      return { router, forgotten: await withParam("voter", erasure) };
    },
  );
}
