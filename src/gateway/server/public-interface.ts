import { Agent, fetch } from "undici";
import { JoustClient } from "../../client/client.ts";
import type { PublicInterface } from "../sandbox/voters.ts";

/** Lets the simulated voters use the gateway over HTTP, like any other client. */
export function publicInterface(
  baseUrl: () => string,
  apiKey: string,
  signal: AbortSignal,
): PublicInterface {
  // Its own agent connects directly, even if the environment configures a proxy.
  const dispatcher = new Agent();
  const direct = (url: string, init: object) => fetch(url, { ...init, dispatcher });
  const client = () =>
    new JoustClient({
      baseUrl: baseUrl(),
      apiKey,
      fetch: direct as unknown as typeof globalThis.fetch,
    });
  return {
    duel: async (content) => {
      const messages = [{ role: "user", content }];
      const request = { model: "auto", messages, joust: { duel: true } };
      const { id, choices } = await client().chat(request, { signal });
      return { id, answers: choices.map(({ message }) => message.content ?? "") };
    },
    vote: async (id, winner, voter) => {
      await client().vote({ id, winner, voter }, { signal });
    },
  };
}
