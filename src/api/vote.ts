import { z } from "zod";
import { Id, printable, type Value } from "./common.ts";

const MetricValue = z.union([z.boolean(), z.number()], "must be true, false or a number");
/** Longest comment, in characters. */
const MOST_COMMENT = 2000;

export const VoteRequest = z
  .object({
    id: Id.optional().describe(
      "Id of the answer or of its decision, or the id that the client chose for the request.",
    ),
    session_id: Id.optional().describe(
      "Instead of `id`: a session of this key, for its last answer (`last`), or for metrics of level `session` and comments.",
    ),
    last: z
      .literal(true)
      .optional()
      .describe("The vote is about the last answer of the session. Needs a key."),
    winner: z
      .union(
        [z.literal([0, 1]), z.enum(["0", "1", "a", "b", "tie", "both_bad"])],
        'must be 0, 1, "tie" or "both_bad"',
      )
      .optional()
      .describe("Winner of a duel: index of the better answer, `tie` or `both_bad`."),
    rating: z.number().min(-1).max(1).optional().describe("Rating of one answer, -1 to 1."),
    slot: z.literal([0, 1]).optional().describe("Index of the answer that is rated."),
    ranking: z.array(Id).min(2).max(100).optional().describe("Names of models, best first."),
    voter: printable(128)
      .optional()
      .describe("Name of the voter, if several people share the key. One vote per decision."),
    vote_token: z
      .string()
      .max(4096)
      .optional()
      .describe("Replaces the API key. One token is one vote, whatever the voter is called."),
    // TensorZero: POST /feedback {metric_name, value, inference_id}
    inference_id: Id.optional().describe("TensorZero's name of `id`."),
    episode_id: Id.optional().describe("TensorZero's name of `session_id`."),
    metric_name: z
      .string()
      .max(256)
      .optional()
      .describe("Name of a metric that joust.yaml declares, or `comment`; default `value`."),
    // Portkey: POST /v1/feedback {trace_id, value}
    trace_id: Id.optional().describe("Portkey's name of `id`."),
    value: z
      .union([MetricValue, z.string().max(MOST_COMMENT)], "must be true, false, a number or a text")
      .optional()
      .describe("Value of the metric, or text of the comment, for TensorZero and Portkey."),
    metrics: z
      .record(z.string().max(256), MetricValue)
      .refine((all) => Object.keys(all).length <= 32, "has more than 32 metrics")
      .optional()
      .describe("Values of several metrics that joust.yaml declares, by name."),
    comment: z
      .string()
      .max(MOST_COMMENT)
      .optional()
      .describe("Stored with the decision, with or without a vote. Nothing is learned from it."),
    // FastChat: {type: "leftvote"}
    type: z
      .enum(["leftvote", "rightvote", "tievote", "bothbad_vote"])
      .optional()
      .describe("FastChat's name of `winner`."),
  })
  .describe(
    "A vote: `id`, or `session_id` and `last`, and one of `winner`, `rating` and `ranking`, declared metrics, a comment, or several of these.",
  );
export type VoteRequest = Value<typeof VoteRequest>;

export const VoteReceipt = z
  .object({
    id: z.string().describe("Id of the decision."),
    status: z
      .enum(["logged", "repeated"])
      .describe("`repeated`: this voter had cast the same vote before."),
    models: z
      .array(z.string())
      .optional()
      .describe(
        "Models that answered, in the order shown. Missing if only metrics or a comment of a duel were sent.",
      ),
    not_learned: z
      .array(z.string())
      .optional()
      .describe(
        "Members of the request from which nothing is learned: three other votes on the decision count already, or the metric has the weight 0.",
      ),
  })
  .meta({ id: "VoteReceipt", description: "The vote is stored on disk." });
export type VoteReceipt = Value<typeof VoteReceipt>;
