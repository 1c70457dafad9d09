/** Worker that translates large requests, so that the thread that serves requests does not wait. */
import { serve } from "../../../core/threads/serve.ts";
import type { Route } from "../../codecs/translate-request.ts";
import { restoredRequest, writtenRequest } from "./written-request.ts";

const methods = {
  translate(body: Uint8Array, route: Route) {
    const { members, request, ...rest } = writtenRequest(body, route);
    const { json, open, close, spans } = members;
    // The translation of the answer does not need the items, which can be large.
    return { ...rest, json, open, close, spans, request: { ...request, items: [] } };
  },
  restore(body: Uint8Array, dialect: "responses" | "messages", origin: string) {
    const { json, open, close, spans } = restoredRequest(body, dialect, origin);
    return { json, open, close, spans };
  },
};
export type TranslateMethods = typeof methods;

serve(() => methods);
