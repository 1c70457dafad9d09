import type { PublicInterface } from "../sandbox/voters.ts";

/** The gateway's own endpoints, called as a client would, over HTTP. */
export function publicInterface(origin: () => string, secret: string): PublicInterface {
  const post = async (path: string, payload: object) => {
    const headers = { authorization: `Bearer ${secret}` };
    const body = JSON.stringify(payload);
    const answer = await fetch(`${origin()}${path}`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    return (await answer.json()) as Completion;
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
