import {
  BudgetRequest,
  ConcurrentRequest,
  ForgetRequest,
  Forgotten,
  Frozen,
  Key,
  KeyList,
  KeyParams,
  KeyWithSecret,
  NewKey,
  RollbackRequest,
  RolledBack,
  RouterParams,
  ThawRequest,
} from "../../api/admin.ts";
import { forget, freeze, rollBack, thaw } from "../../learner/controls.ts";
import type { Store } from "../../store/store.ts";
import type { Access } from "../access/access.ts";
import { addKey, revokeKey, setBudget, setConcurrent, shownKey } from "../access/keys.ts";
import type { Clock } from "../clock/clock.ts";
import { routerNamed, type Serving } from "../routing/serving.ts";
import { type App, contract } from "./app.ts";

export interface AdminParts {
  readonly serving: () => Serving;
  readonly store: Store;
  readonly access: Pick<Access, "read">;
  readonly clock: Clock;
}

/** Adds the endpoints for operators: control of learning, and API keys. */
export function addAdminRoutes(app: App, parts: AdminParts): void {
  addLearningRoutes(app, parts);
  addKeyRoutes(app, parts);
}

const CONTROL = { scope: "admin", params: RouterParams } as const;

function addLearningRoutes(app: App, { serving, store, clock }: AdminParts): void {
  const nameOf = (router: string) => routerNamed(serving(), router).name;
  app.post(
    "/v1/admin/routers/:router/freeze",
    contract({
      ...CONTROL,
      summary: "Stops learning. Votes are still logged.",
      response: Frozen,
      errors: [413],
    }),
    async ({ params }) => {
      const router = nameOf(params.router);
      await freeze(store, router, clock.date());
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
    async ({ params, body }) => {
      const router = nameOf(params.router);
      await thaw(store, router, clock.date(), body.learn);
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
    async ({ params, body }) => {
      const router = nameOf(params.router);
      const { to, position } = body;
      const target = to === undefined ? { position: position! } : { time: Date.parse(to) };
      const undone = await rollBack(store, router, target, clock.date());
      return { router, undone };
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
    async ({ params, body }) => {
      const router = nameOf(params.router);
      const forgotten = await forget(store, router, body.voter, clock.date());
      return { router, forgotten };
    },
  );
}

function addKeyRoutes(app: App, { store, access, clock }: AdminParts): void {
  app.get(
    "/v1/admin/keys",
    contract({
      summary: "Lists API keys without their secrets.",
      scope: "admin",
      response: KeyList,
    }),
    async () => ({ object: "list" as const, data: (await store.keys()).map(shownKey) }),
  );
  app.post(
    "/v1/admin/keys",
    contract({
      summary: "Creates an API key. Once there is a key, every request needs one.",
      scope: "admin",
      body: NewKey,
      response: KeyWithSecret,
    }),
    async ({ body }) => {
      const { key, secret } = await addKey(store, body, clock.date());
      await access.read();
      return { ...shownKey(key), secret };
    },
  );
  app.post(
    "/v1/admin/keys/:id/revoke",
    contract({
      summary: "Revokes an API key.",
      scope: "admin",
      params: KeyParams,
      response: Key,
      errors: [413],
    }),
    async ({ params }) => {
      const key = await revokeKey(store, params.id, clock.date());
      await access.read();
      return shownKey(key);
    },
  );
  app.post(
    "/v1/admin/keys/:id/budget",
    contract({
      summary: "Limits what an API key may spend per calendar month.",
      scope: "admin",
      params: KeyParams,
      body: BudgetRequest,
      response: Key,
    }),
    async ({ params, body }) => {
      const key = await setBudget(store, params.id, body.budget ?? undefined);
      await access.read();
      return shownKey(key);
    },
  );
  app.post(
    "/v1/admin/keys/:id/concurrent",
    contract({
      summary: "Limits the concurrent requests of an API key.",
      scope: "admin",
      params: KeyParams,
      body: ConcurrentRequest,
      response: Key,
    }),
    async ({ params, body }) => {
      const key = await setConcurrent(store, params.id, body.concurrent ?? undefined);
      await access.read();
      return shownKey(key);
    },
  );
}
