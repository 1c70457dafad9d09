import type { Store } from "../../store/store.ts";
import { HttpError } from "../wire/http-error.ts";

/**
 * The error for a change that is not based on the newest revision. It names what was changed since, or says that
 * there is no such revision yet.
 */
export async function staleError(
  store: Pick<Store, "audit">,
  basedOn: number,
  newest: number,
): Promise<HttpError> {
  const message =
    basedOn > newest
      ? `there is no revision ${basedOn} yet: the newest one is ${newest}`
      : `the configuration has changed since revision ${basedOn}: ${await changesSince(store, basedOn)}`;
  return new HttpError(409, message, {
    hint: "read the configuration again, and repeat the change if it is still right",
    code: "configuration_changed",
    param: "based_on",
  });
}

/** The entries that were changed after a revision, with the keys that changed them. */
async function changesSince(store: Pick<Store, "audit">, basedOn: number): Promise<string> {
  const records = await store.audit({ limit: 50 });
  const newer = records.filter(({ revision = 0 }) => revision > basedOn).reverse();
  return newer.map(({ actor, target }) => `${target}${actor ? ` (key ${actor})` : ""}`).join("; ");
}
