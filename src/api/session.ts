import { z } from "zod";
import { Timestamp, type Value } from "./common.ts";

export const SignInRequest = z.object({
  key: z.string().min(1).max(1024).describe("An API key of this gateway."),
});

export const Session = z
  .object({
    object: z.literal("session"),
    required: z.boolean().describe("Whether requests need an API key or a session."),
    key: z
      .object({ name: z.string(), scopes: z.array(z.string()) })
      .optional()
      .describe("The API key of the session; missing if nobody is signed in."),
    expires_at: Timestamp.optional(),
    csrf: z
      .string()
      .optional()
      .describe("Value of the header `x-joust-csrf`, which every POST and DELETE must have."),
  })
  .meta({ id: "Session", description: "Whether the browser is signed in." });
export type Session = Value<typeof Session>;
