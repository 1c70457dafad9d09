/** One question of a conversation with its answers (two in a duel, otherwise one) and the vote on them. */
export interface Exchange {
  readonly id: string;
  /** Time at which the question was sent, in milliseconds since 1970. */
  readonly at: number;
  readonly prompt: string;
  readonly answers: readonly Answer[];
  /** Id of the decision, known once the gateway has started to answer. */
  readonly decision?: string | undefined;
  readonly token?: string | undefined;
  /** Remark of the gateway, for example why another model answered. */
  readonly note?: string | undefined;
  readonly vote?: Vote | undefined;
  /** Whether the person chose not to vote. */
  readonly isSkipped?: boolean | undefined;
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

interface Vote {
  readonly choice: Choice;
  /** "saved": the gateway has acknowledged the vote and will not lose it. */
  readonly status: "sending" | "saved" | "refused";
  readonly problem?: string | undefined;
}

export function newExchange(id: string, at: number, prompt: string, isDuel: boolean): Exchange {
  const waiting: Answer = { text: "", status: "waiting" };
  return { id, at, prompt, answers: isDuel ? [waiting, waiting] : [waiting] };
}

export function isDuel({ answers }: Exchange): boolean {
  return answers.length === 2;
}

export function isStreaming({ answers }: Exchange): boolean {
  return answers.some(({ status }) => status === "waiting" || status === "streaming");
}

/** Whether the answers can be judged and no vote is on its way. */
export function canVote(exchange: Exchange): boolean {
  const { decision, vote, answers } = exchange;
  return (
    decision !== undefined &&
    (vote === undefined || vote.status === "refused") &&
    answers.every(({ text, status }) => text !== "" || status === "done")
  );
}

/** Whether this is a duel that still needs a vote. */
export function awaitsVote(exchange: Exchange): boolean {
  const isFailed = exchange.answers.every(({ text, status }) => text === "" && status === "failed");
  return isDuel(exchange) && exchange.vote === undefined && !exchange.isSkipped && !isFailed;
}

/** Slot of the answer that becomes part of the conversation: the preferred one, if it has a text. */
export function continuedSlot({ vote, answers }: Exchange): number {
  const winner = vote && "winner" in vote.choice ? vote.choice.winner : 0;
  const slot = winner === 1 ? 1 : 0;
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
