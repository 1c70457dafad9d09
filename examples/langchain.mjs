// LangChain.js sends requests to Joust, and Joust's client votes by an id that this program chooses.
//
//   npm install @langchain/openai @langchain/core PATH/joust-0.2.0.tgz
//   npx joust serve &
//   node langchain.mjs http://localhost:8080
import { randomUUID } from "node:crypto";
import { ChatOpenAI } from "@langchain/openai";
import { JoustClient } from "joust/client";

const baseUrl = process.argv[2] ?? "http://localhost:8080";
const apiKey = process.env.JOUST_API_KEY ?? "none";
const modelWith = (defaultHeaders) =>
  new ChatOpenAI({
    model: "auto",
    apiKey,
    configuration: { baseURL: `${baseUrl}/v1`, defaultHeaders },
  });
const joust = new JoustClient({ baseUrl, apiKey });

// 1. Vote by an id per answer.
const id = randomUUID();
const options = { headers: { "x-joust-id": id } };
const answer = await modelWith({}).invoke("Why is the sky blue?", { options });
console.log(answer.text);
console.log("vote:", await joust.castVote({ id, rating: 1 }));

// 2. Vote on the last answer of a session. `stream` ignores the headers of a single call, so each
// session gets its own model object.
const session = randomUUID();
const model = modelWith({ "x-joust-session-id": session });
for await (const piece of await model.stream("Why is it red in the evening?")) {
  process.stdout.write(piece.text);
}
console.log("\nvote:", await joust.voteOnLast(session, { rating: -1, comment: "too long" }));
