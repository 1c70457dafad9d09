import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { PublicInterface } from "../sandbox/voters.ts";

/**
 * The gateway's own endpoints, called as a client would, over HTTP: straight to
 * its address, whatever proxy is set for others.
 */
export function publicInterface(
  origin: () => string,
  secret: string,
  closing: AbortSignal,
): PublicInterface {
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${secret}` };
  const post = async (path: string, payload: object) => {
    const options = { method: "POST", agent, headers, signal: closing };
    const asked = request(`${origin()}${path}`, options).end(JSON.stringify(payload));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const body = Buffer.concat(await answer.toArray()).toString();
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
    return JSON.parse(body) as Completion;
  };
  return {
    duel: async (content) => {
      const messages = [{ role: "user", content }];
      const asked = { model: "auto", messages, joust: { duel: true } };
      const { id, choices } = await post("/v1/chat/completions", asked);
      return { id, answers: choices.map(({ message }) => message.content) };
    },
    vote: async (id, winner, voter) => {
      await post("/v1/feedback", { id, winner, voter });
    },
  };
}

interface Completion {
  readonly id: string;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}
