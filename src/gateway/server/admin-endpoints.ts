import { z } from "zod";
import { forget, freeze, rollBack, thaw } from "../../learner/controls.ts";
import { addKey, revokeKey, setBudget, shownKey } from "../access/keys.ts";
import { SCOPES } from "../config/scopes.ts";
import { routerNamed } from "../routing/serving.ts";
import { bodyOf, type Call, type Endpoint } from "./endpoint.ts";

const THAW = z.object({
  learn: z.boolean().default(true).describe("Whether votes that came meanwhile are learnt now."),
});
const ROLLBACK = z.object({
  to: z.iso.datetime({ offset: true }).describe("What votes have taught after it is undone."),
});
const FORGET = z.object({
  voter: z.string().min(1).max(256).describe("As votes export names it."),
});
const NEW_KEY = z.object({
  name: z.string().regex(/^[\w.:/@-]{1,100}$/, "has to be letters, digits and . _ : / @ -"),
  scopes: z.array(z.enum(SCOPES)).min(1).default(["route", "vote"]),
  budget: z.number().positive().optional().describe("US dollars a calendar month."),
  rate: z.number().positive().optional().describe("Requests a minute."),
  duels: z.union([z.boolean(), z.literal("auto")]).optional(),
});
const BUDGET = z.object({ budget: z.number().positive().nullable() });

/** For operators: what was learnt, and who may do what. */
export const ADMIN_ENDPOINTS: readonly Endpoint[] = [
  {
    ...control("freeze", "From now on votes are kept but teach nothing."),
    handle: async ({ gateway, params }) => {
      const { name } = routerNamed(gateway.serving(), params.router);
      await freeze(gateway.store, name, gateway.clock.date());
      return { router: name, frozen: true };
    },
  },
  {
    ...control("thaw", "Votes teach again.", THAW),
    handle: async (call) => {
      const { gateway, params } = call;
      const { name } = routerNamed(gateway.serving(), params.router);
      const { learn } = bodyOf(THAW, withBody(call));
      await thaw(gateway.store, name, gateway.clock.date(), learn);
      return { router: name, frozen: false };
    },
  },
  {
    ...control("rollback", "Undoes what votes have taught after a time, for good.", ROLLBACK),
    handle: async (call) => {
      const { gateway, params } = call;
      const { name } = routerNamed(gateway.serving(), params.router);
      const to = Date.parse(bodyOf(ROLLBACK, call).to);
      const undone = await rollBack(gateway.store, name, to, gateway.clock.date());
      return { router: name, undone };
    },
  },
  {
    ...control("forget", "As if a voter had never voted, for good.", FORGET),
    handle: async (call) => {
      const { gateway, params } = call;
      const { name } = routerNamed(gateway.serving(), params.router);
      const { voter } = bodyOf(FORGET, call);
      const forgotten = await forget(gateway.store, name, voter, gateway.clock.date());
      return { router: name, forgotten };
    },
  },
  {
    method: "GET",
    path: "/v1/admin/keys",
    summary: "All keys, without their secrets.",
    scope: "admin",
    answer: "The keys.",
    handle: async ({ gateway }) => ({
      object: "list",
      data: (await gateway.store.keys()).map(shownKey),
    }),
  },
  {
    method: "POST",
    path: "/v1/admin/keys",
    summary: "A new key. From the first one on, every request needs one.",
    scope: "admin",
    body: NEW_KEY,
    answer: "The key and its secret, which is shown only here.",
    handle: async (call) => {
      const { gateway } = call;
      const made = await addKey(gateway.store, bodyOf(NEW_KEY, call), gateway.clock.date());
      await gateway.access.read();
      return { ...shownKey(made.key), secret: made.secret };
    },
  },
  {
    method: "POST",
    path: "/v1/admin/keys/{id}/revoke",
    summary: "Takes a key out of use.",
    scope: "admin",
    answer: "The key.",
    handle: async ({ gateway, params }) => {
      const key = await revokeKey(gateway.store, params.id!, gateway.clock.date());
      await gateway.access.read();
      return shownKey(key);
    },
  },
  {
    method: "POST",
    path: "/v1/admin/keys/{id}/budget",
    summary: "What a key may spend in a calendar month; null: any amount.",
    scope: "admin",
    body: BUDGET,
    answer: "The key.",
    handle: async (call) => {
      const { budget } = bodyOf(BUDGET, call);
      const key = await setBudget(call.gateway.store, call.params.id!, budget ?? undefined);
      await call.gateway.access.read();
      return shownKey(key);
    },
  },
];

function control(name: string, summary: string, body?: z.ZodType): Omit<Endpoint, "handle"> {
  return {
    method: "POST",
    path: `/v1/admin/routers/{router}/${name}`,
    summary,
    scope: "admin",
    answer: "What was done.",
    refusals: [404, 503],
    ...(body && { body }),
  };
}

/** A body that may be left out. */
function withBody(call: Call): Call {
  return call.body.length === 0 ? { ...call, body: Buffer.from("{}") } : call;
}
