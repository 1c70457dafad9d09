// The AI SDK sends requests to Joust, and Joust's client votes by an id that this program chooses.
//
//   npm install ai @ai-sdk/openai-compatible PATH/joust-0.2.0.tgz
//   npx joust serve &
//   node ai-sdk.mjs http://localhost:8080
import { randomUUID } from "node:crypto";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { JoustClient } from "joust/client";

const baseUrl = process.argv[2] ?? "http://localhost:8080";
const apiKey = process.env.JOUST_API_KEY ?? "none";
const gateway = createOpenAICompatible({ name: "joust", baseURL: `${baseUrl}/v1`, apiKey });
const joust = new JoustClient({ baseUrl, apiKey });

// 1. Vote by an id per answer, for example the id of your message.
const id = randomUUID();
const { text } = await generateText({
  model: gateway("auto"),
  prompt: "Why is the sky blue?",
  headers: { "x-joust-id": id },
});
console.log(text);
console.log("vote:", await joust.castVote({ id, rating: 1 }));

// 2. Vote on the last answer of a session, whichever program sent the requests.
const session = randomUUID();
const { textStream } = streamText({
  model: gateway("auto"),
  prompt: "Why is it red in the evening?",
  headers: { "x-joust-session-id": session },
});
for await (const piece of textStream) process.stdout.write(piece);
console.log("\nvote:", await joust.voteOnLast(session, { rating: -1, comment: "too long" }));
