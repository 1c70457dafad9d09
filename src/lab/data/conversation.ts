import { z } from "zod";

/** A conversation as OpenAI's turns, or as one string of "### Human:" and "### Assistant:" parts. */
export const CONVERSATION = z.union([
  z.string(),
  z.array(
    z.object({
      role: z.string(),
      content: z.union([z.string(), z.array(z.object({ text: z.string().nullish() }))]),
    }),
  ),
]);

/** What the person said last; "" where nobody said anything. */
export function lastHumanTurn(conversation: z.infer<typeof CONVERSATION>): string {
  if (typeof conversation === "string") {
    const from = conversation.lastIndexOf(HUMAN);
    const turn = from < 0 ? conversation : conversation.slice(from + HUMAN.length);
    return turn.split("### Assistant:")[0]!.trim();
  }
  const content = conversation.findLast((turn) => turn.role === "user")?.content ?? "";
  if (typeof content === "string") return content.trim();
  return content
    .map((part) => part.text ?? "")
    .join("")
    .trim();
}

const HUMAN = "### Human:";
