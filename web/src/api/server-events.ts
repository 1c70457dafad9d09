import { createParser, type EventSourceMessage } from "eventsource-parser";

/**
 * The events of a response as they come. Not the browser's EventSource: that
 * sends no key and takes no POST. Leaving the loop lets go of the connection.
 */
export async function* serverEvents(response: Response): AsyncGenerator<EventSourceMessage> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
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
