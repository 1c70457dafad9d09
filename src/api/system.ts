import { z } from "zod";
import { Timestamp } from "./common.ts";

export const System = z
  .object({
    object: z.literal("system"),
    version: z.string(),
    node: z.string().describe("The node that answered."),
    revision: z.int().describe("Revision of the configuration that this node serves."),
    nodes: z.array(
      z.object({
        id: z.string(),
        version: z.string(),
        url: z.string().describe("Address that the node listens on."),
        revision: z.int(),
        started_at: Timestamp,
        seen_at: Timestamp,
        is_alive: z
          .boolean()
          .describe("Whether it has given a sign of life in the last 30 seconds."),
      }),
    ),
    leases: z.array(
      z.object({
        router: z.string(),
        holder: z.string().describe("The node that learns for the router."),
        until: Timestamp,
        is_valid: z.boolean(),
      }),
    ),
    store: z.object({
      kind: z.enum(["sqlite", "postgresql"]),
      file: z.string().optional(),
      is_up: z.boolean(),
      waiting: z.number().describe("Entries that wait to be written by this node."),
      dropped: z.number().describe("Entries of this node that were lost since its start."),
    }),
  })
  .meta({ id: "System", description: "Nodes, leases and the store." });

export const Backup = z.object({
  object: z.literal("backup"),
  folder: z.string().describe("Folder on the machine of the node that answered."),
  files: z.int(),
  position: z.int().describe("Position of the newest vote in the backup."),
});
