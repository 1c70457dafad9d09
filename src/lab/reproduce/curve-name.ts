/** What a curve is called in tables, lists and on the command line. */
import type { Curve } from "./experiment.ts";
import { BLIND } from "./scene.ts";

/** A baseline with the vectors it looks at, if any: in figures, which have one encoder, the name alone does. */
export function fullName({ name, group, policy, encoder, epochs }: Curve): string {
  if (group !== "baseline" || encoder === "" || BLIND.includes(policy)) return name;
  return `${name} on ${encoder}${epochs > 0 ? `_E${epochs}` : ""}`;
}

/** The form of the queries, and what else was changed. */
export function worldOf({ form, variant }: Pick<Curve, "form" | "variant">): string {
  return [form, variant].filter(Boolean).join(", ");
}
