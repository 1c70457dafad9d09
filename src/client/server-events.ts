import { createParser } from "eventsource-parser";

export interface ServerEvent {
  /** Name of the event; "" if it has none. */
  readonly name: string;
  readonly data: string;
}

/**
 * Server-sent events of a response. Unlike the browser's EventSource this works
 * for POST requests and with an API key. Leaving the loop closes the connection.
 */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const events: ServerEvent[] = [];
  const parser = createParser({
    onEvent: ({ event: name = "", data }) => events.push({ name, data }),
  });
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
