/** Worker that reads large bodies, so that the thread that serves requests does not wait. */
import { toPlainError } from "../../../core/threads/plain-error.ts";
import { Moved, serve } from "../../../core/threads/serve.ts";
import { DIALECT_OF, type Endpoint } from "../../providers/upstream/upstream.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import { chat } from "../chat/chat.ts";
import { costLimits } from "../cost-limits.ts";
import {
  type Conversation,
  type CostLimits,
  type Dialect,
  type RequestHeaders,
  readRequest,
} from "../dialect.ts";
import { messages } from "../messages/messages.ts";
import { responses } from "../responses/responses.ts";

const DIALECTS: Readonly<Record<DialectName, Dialect>> = { chat, responses, messages };

const methods = {
  /**
   * Reads a request, and its conversation if the headers are given. The bytes come back with the
   * result. A problem of the conversation matters only if the request names a router.
   */
  read(body: Uint8Array, endpoint: Endpoint, headers?: RequestHeaders) {
    const request = readRequest(endpoint, body);
    const { members, model, stream } = request;
    const { open, close, spans } = members;
    const name = DIALECT_OF[endpoint];
    let limits: CostLimits | undefined;
    let conversation: Conversation | undefined;
    let problem: ReturnType<typeof toPlainError> | undefined;
    try {
      limits = costLimits(request);
      if (name && headers) conversation = DIALECTS[name].read(members, headers);
    } catch (error) {
      problem = toPlainError(error);
    }
    const found = { body, open, close, spans, model, stream, limits, conversation, problem };
    return new Moved(found, [body.buffer as ArrayBuffer]);
  },
};
export type ReadMethods = typeof methods;

serve(() => methods);
