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
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const events = rest.split(/\r\n\r\n|\n\n|\r\r/);
      rest = events.pop()!;
      for (const text of events) {
        const event = parse(text);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Undefined for a comment. */
function parse(text: string): ServerEvent | undefined {
  let name = "";
  const data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [, field, value] = /^(\w+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === "data") data.push(value ?? "");
    else if (field === "event") name = value ?? "";
  }
  return data.length === 0 ? undefined : { name, data: data.join("\n") };
}
