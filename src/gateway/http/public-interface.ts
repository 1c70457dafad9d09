import type { FastifyInstance } from "fastify";
import type { PublicInterface } from "../sandbox/voters.ts";

/** The gateway's own endpoints, called as a client would, without a socket between. */
export function publicInterface(app: () => FastifyInstance, secret: string): PublicInterface {
  const post = async (url: string, payload: object) => {
    const headers = { authorization: `Bearer ${secret}`, host: "localhost" };
    const answer = await app().inject({ method: "POST", url, headers, payload });
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`);
    return answer.json<Completion>();
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
