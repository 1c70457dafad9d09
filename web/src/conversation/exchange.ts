/** One question of a conversation with its answers (two in a duel, otherwise one) and the vote on them. */
export interface Exchange {
  readonly id: string;
  /** Time at which the question was sent, in milliseconds since 1970. */
  readonly at: number;
  readonly prompt: string;
  /** Images of the question as data URLs. They are not stored, so they are missing after a reload. */
  readonly images?: readonly string[] | undefined;
  readonly answers: readonly Answer[];
  /** Id of the decision, known once the gateway has started to answer. */
  readonly decision?: string | undefined;
  readonly token?: string | undefined;
  /** Remark of the gateway, for example why another model answered. */
  readonly note?: string | undefined;
  readonly vote?: Vote | undefined;
  /** Whether the person chose not to vote. */
  readonly isSkipped?: boolean | undefined;
  /** Slot of the answer with which the person continues the conversation, if no answer was preferred. */
  readonly continued?: 0 | 1 | undefined;
  /** Reason why an answer is missing or incomplete. */
  readonly problem?: string | undefined;
}

export interface Answer {
  readonly text: string;
  /** Whether the model is still sending its reasoning and not yet the answer. */
  readonly isThinking?: boolean | undefined;
  readonly status: "waiting" | "streaming" | "done" | "failed";
  readonly model?: string | undefined;
}

/** Slot of the better answer, or a judgement of both. */
export type DuelChoice = 0 | 1 | "tie" | "both_bad";
/** A vote: on a duel, or a thumb up or down for a single answer. */
export type Choice = { readonly winner: DuelChoice } | { readonly rating: 1 | -1 };

export interface Vote {
  readonly choice: Choice;
  /**
   * "held": not sent yet, so that it can be undone; "saved": the gateway has acknowledged the vote and will not lose it.
   */
  readonly status: "held" | "sending" | "saved" | "refused";
  /** Time at which a held vote is sent, in milliseconds since 1970. */
  readonly sendAt?: number | undefined;
  /** Reasons that the person has picked, and a comment. */
  readonly reasons?: readonly string[] | undefined;
  readonly comment?: string | undefined;
  readonly problem?: string | undefined;
}

/** The winner of a vote on a duel. */
export function winnerOf(vote: Vote | undefined): DuelChoice | undefined {
  return vote && "winner" in vote.choice ? vote.choice.winner : undefined;
}

/** Reasons and comment as one text; undefined if there are none. */
export function commentOf({ reasons = [], comment = "" }: Vote): string | undefined {
  const text = [reasons.join(", "), comment.trim()].filter((part) => part !== "").join(". ");
  return text === "" ? undefined : text.slice(0, MOST_COMMENT);
}

/** Longest comment that the gateway accepts. */
const MOST_COMMENT = 2000;

export function newExchange(
  id: string,
  at: number,
  prompt: string,
  isDuel: boolean,
  images: readonly string[] = [],
): Exchange {
  const waiting: Answer = { text: "", status: "waiting" };
  const answers = isDuel ? [waiting, waiting] : [waiting];
  return { id, at, prompt, ...(images.length > 0 && { images }), answers };
}

export function isDuel({ answers }: Exchange): boolean {
  return answers.length === 2;
}

export function isStreaming({ answers }: Exchange): boolean {
  return answers.some(({ status }) => status === "waiting" || status === "streaming");
}

/** Whether all answers are finished, or long enough to be judged, and no vote was cast. */
export function canVote(exchange: Exchange): boolean {
  const { decision, vote, answers } = exchange;
  return (
    decision !== undefined &&
    (vote === undefined || vote.status === "refused") &&
    answers.every(isReadable)
  );
}

function isReadable({ text, status }: Answer): boolean {
  return status === "done" || text.length >= (status === "failed" ? 1 : READABLE);
}

/** Number of characters from which an unfinished answer can be judged. */
export const READABLE = 240;

/** Whether this is a duel that still needs a vote. */
export function awaitsVote(exchange: Exchange): boolean {
  const isFailed = exchange.answers.every(({ text, status }) => text === "" && status === "failed");
  return isDuel(exchange) && exchange.vote === undefined && !exchange.isSkipped && !isFailed;
}

/** Slot of the answer that becomes part of the conversation: the preferred or the chosen one, if it has a text. */
export function continuedSlot({ vote, answers, continued }: Exchange): number {
  const winner = winnerOf(vote);
  const slot = winner === 0 || winner === 1 ? winner : (continued ?? 0);
  return answers[slot] && answers[slot].text !== "" ? slot : answers.length - 1 - slot;
}

/** The exchange with text added to one answer. */
export function withText(
  exchange: Exchange,
  slot: number,
  text: string,
  thinking = false,
): Exchange {
  return withAnswer(exchange, slot, (answer) => ({
    ...answer,
    text: thinking ? answer.text : answer.text + text,
    isThinking: thinking && answer.text === "",
    status: "streaming",
  }));
}

export function withEnd(exchange: Exchange, slot: number, reason: string): Exchange {
  return withAnswer(exchange, slot, (answer) => ({
    ...answer,
    isThinking: false,
    status: reason === "error" ? "failed" : "done",
  }));
}

/** The exchange after its stream has stopped: unfinished answers are marked as failed. */
export function withInterruption(exchange: Exchange, problem: string | undefined): Exchange {
  const answers = exchange.answers.map((answer) =>
    answer.status === "done" ? answer : { ...answer, isThinking: false, status: "failed" as const },
  );
  return { ...exchange, answers, problem };
}

function withAnswer(
  exchange: Exchange,
  slot: number,
  change: (answer: Answer) => Answer,
): Exchange {
  if (!exchange.answers[slot]) return exchange;
  return {
    ...exchange,
    answers: exchange.answers.map((answer, i) => (i === slot ? change(answer) : answer)),
  };
}
