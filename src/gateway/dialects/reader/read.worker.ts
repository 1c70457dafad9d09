/** Worker that reads large bodies, so that the thread that serves requests does not wait. */
import { toPlainError } from "../../../core/threads/plain-error.ts";
import { Moved, serve } from "../../../core/threads/serve.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import { chat } from "../chat/chat.ts";
import { type Conversation, type Dialect, type RequestHeaders, readRequest } from "../dialect.ts";
import { messages } from "../messages/messages.ts";
import { responses } from "../responses/responses.ts";

const DIALECTS: Readonly<Record<DialectName, Dialect>> = { chat, responses, messages };

const methods = {
  /**
   * Reads a request, and its conversation if a dialect is given. The bytes come back with the
   * result. A problem of the conversation matters only if the request names a router.
   */
  read(body: Uint8Array, name?: DialectName, headers: RequestHeaders = {}) {
    const { members, model, stream } = readRequest("chat/completions", body);
    const { open, close, spans } = members;
    let conversation: Conversation | undefined;
    let problem: ReturnType<typeof toPlainError> | undefined;
    try {
      if (name) conversation = DIALECTS[name].read(members, headers);
    } catch (error) {
      problem = toPlainError(error);
    }
    const found = { body, open, close, spans, model, stream, conversation, problem };
    return new Moved(found, [body.buffer as ArrayBuffer]);
  },
};
export type ReadMethods = typeof methods;

serve(() => methods);
