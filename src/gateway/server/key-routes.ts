import {
  BudgetRequest,
  ConcurrentRequest,
  Key,
  KeyLimits,
  KeyList,
  KeyParams,
  KeyWithSecret,
  NewKey,
} from "../../api/admin.ts";
import type { Value } from "../../api/common.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { StoredKey } from "../../store/key.ts";
import type { Store } from "../../store/store.ts";
import { monthOf } from "../../store/tally.ts";
import type { Access, Caller } from "../access/access.ts";
import { addKey, changeKey, findKey, recordedKey, revokeKey, shownKey } from "../access/keys.ts";
import type { Audit } from "../administration/audit.ts";
import type { Clock } from "../clock/clock.ts";
import { logged } from "../log/logged.ts";
import type { Serving } from "../routing/serving.ts";
import { HttpError } from "../wire/http-error.ts";
import { type App, contract } from "./app.ts";
import { withParam } from "./at-fault.ts";

export interface KeyRouteParts {
  readonly store: Store;
  readonly log: Pick<GroupCommit, "stats" | "flush">;
  readonly access: Pick<Access, "read">;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly serving: () => Pick<Serving, "models" | "routers">;
}

/** Adds the endpoints for API keys. */
export function addKeyRoutes(app: App, parts: KeyRouteParts): void {
  const { store, log, access, clock, audit, serving } = parts;
  const change = async (caller: Caller, id: string, limits: Value<typeof KeyLimits>) => {
    checkNames(limits, serving(), await withParam("id", findKey(store, id)));
    const { before, after } = await withParam("id", changeKey(store, id, limits));
    if (after === before) return shownKey(after);
    await access.read();
    await audit.save(caller, {
      action: "key.change",
      target: after.name,
      before: recordedKey(before),
      after: recordedKey(after),
    });
    return shownKey(after);
  };
  app.get(
    "/v1/admin/keys",
    contract({
      summary: "Lists API keys without their secrets.",
      scope: "admin",
      response: KeyList,
    }),
    async () => {
      await logged(log);
      const month = monthOf(clock.date());
      const keys = await store.keys();
      const spent = await Promise.all(keys.map(({ id }) => store.spent(id, month)));
      const data = keys.map((key, i) => ({ ...shownKey(key), spent: spent[i]! }));
      return { object: "list" as const, data };
    },
  );
  app.post(
    "/v1/admin/keys",
    contract({
      summary: "Creates an API key. Once there is a key, every request needs one.",
      scope: "admin",
      body: NewKey,
      response: KeyWithSecret,
    }),
    async ({ caller, body }) => {
      checkNames(body, serving());
      const { key, secret } = await withParam("name", addKey(store, body, clock.date()));
      await access.read();
      const after = recordedKey(key);
      await audit.save(caller, { action: "key.add", target: key.name, after });
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
    async ({ caller, params }) => {
      const key = await withParam("id", revokeKey(store, params.id, clock.date()));
      await access.read();
      await audit.save(caller, { action: "key.revoke", target: key.name });
      return shownKey(key);
    },
  );
  const addChange = (path: string, summary: string, body: LimitsBody) =>
    app.post(
      `/v1/admin/keys/:id/${path}`,
      contract({ summary, scope: "admin", params: KeyParams, body, response: Key }),
      ({ caller, params, body: limits }) => change(caller, params.id, limits),
    );
  addChange("limits", "Changes scopes and limits of an API key; null removes a limit.", KeyLimits);
  addChange("budget", "Limits what an API key may spend per calendar month.", BudgetRequest);
  addChange("concurrent", "Limits the concurrent requests of an API key.", ConcurrentRequest);
}

type LimitsBody = typeof KeyLimits | typeof BudgetRequest | typeof ConcurrentRequest;

/** Throws 400 if limits name a model or a router that does not exist, unless the key has named it before. */
function checkNames(
  limits: Pick<Value<typeof KeyLimits>, "models" | "routers">,
  serving: Pick<Serving, "models" | "routers">,
  before?: StoredKey,
): void {
  for (const list of ["models", "routers"] as const) {
    const known = [...serving[list].keys()];
    for (const name of limits[list] ?? []) {
      if (known.includes(name) || before?.[list]?.includes(name)) continue;
      throw new HttpError(400, `there is no ${list.slice(0, -1)} \`${name}\``, {
        hint: `${didYouMean(name, known)}known names: ${known.join(", ")}`,
        code: "invalid_value",
        param: list,
      });
    }
  }
}
