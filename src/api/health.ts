import { z } from "zod";

export const Health = z.object({ status: z.literal("ok") });

export const Readiness = z.object({
  status: z.literal("ready"),
  store: z.enum(["up", "down"]).describe("Votes are refused while the store is down."),
});
