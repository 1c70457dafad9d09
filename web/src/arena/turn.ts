/**
 * Glossary
 *
 * turn    a prompt and what came of it: one answer, or two to choose from
 * choice  what a voter says: of a duel the better one, a tie, or both bad; of one answer a thumb
 * kept    the gateway has acknowledged the vote, and will not lose it
 */
export interface Turn {
  readonly id: string;
  readonly at: number;
  readonly prompt: string;
  readonly answers: readonly Answer[];
  readonly decision?: string | undefined;
  readonly token?: string | undefined;
  /** Something the gateway says of how the answer came about. */
  readonly note?: string | undefined;
  readonly vote?: Vote | undefined;
  /** The person wanted no vote here. */
  readonly isSkipped?: boolean | undefined;
  /** Why there is no answer, or only a part of one. */
  readonly problem?: string | undefined;
}

export interface Answer {
  readonly text: string;
  /** The model is talking to itself. */
  readonly isThinking?: boolean | undefined;
  readonly status: "waiting" | "streaming" | "done" | "broken";
  readonly model?: string | undefined;
}

export type DuelChoice = 0 | 1 | "tie" | "both_bad";
export type Choice = { readonly winner: DuelChoice } | { readonly rating: 1 | -1 };

interface Vote {
  readonly choice: Choice;
  readonly status: "sending" | "kept" | "refused";
  readonly problem?: string | undefined;
}

export function newTurn(id: string, at: number, prompt: string, isDuel: boolean): Turn {
  const waiting: Answer = { text: "", status: "waiting" };
  return { id, at, prompt, answers: isDuel ? [waiting, waiting] : [waiting] };
}

export function isDuel({ answers }: Turn): boolean {
  return answers.length === 2;
}

export function isStreaming({ answers }: Turn): boolean {
  return answers.some(({ status }) => status === "waiting" || status === "streaming");
}

/** There is something to judge, and nobody has. */
export function canVote(turn: Turn): boolean {
  const { decision, vote, answers } = turn;
  return (
    decision !== undefined &&
    (vote === undefined || vote.status === "refused") &&
    answers.every(({ text, status }) => text !== "" || status === "done")
  );
}

/** A duel that waits for its vote. */
export function isOpen(turn: Turn): boolean {
  const isFailed = turn.answers.every(({ text, status }) => text === "" && status === "broken");
  return isDuel(turn) && turn.vote === undefined && !turn.isSkipped && !isFailed;
}

/** The place of the answer with which the conversation goes on. */
export function keptSlot({ vote, answers }: Turn): number {
  const winner = vote && "winner" in vote.choice ? vote.choice.winner : 0;
  const slot = winner === 1 ? 1 : 0;
  return answers[slot] && answers[slot].text !== "" ? slot : answers.length - 1 - slot;
}

/** The turn with pieces of text added to its answers. */
export function withText(turn: Turn, slot: number, text: string, thinking = false): Turn {
  return withAnswer(turn, slot, (answer) => ({
    ...answer,
    text: thinking ? answer.text : answer.text + text,
    isThinking: thinking && answer.text === "",
    status: "streaming",
  }));
}

export function withEnd(turn: Turn, slot: number, reason: string): Turn {
  return withAnswer(turn, slot, (answer) => ({
    ...answer,
    isThinking: false,
    status: reason === "error" ? "broken" : "done",
  }));
}

/** Nothing more will come. */
export function brokenOff(turn: Turn, problem: string | undefined): Turn {
  const answers = turn.answers.map((answer) =>
    answer.status === "done" ? answer : { ...answer, isThinking: false, status: "broken" as const },
  );
  return { ...turn, answers, problem };
}

function withAnswer(turn: Turn, slot: number, change: (answer: Answer) => Answer): Turn {
  if (!turn.answers[slot]) return turn;
  return {
    ...turn,
    answers: turn.answers.map((answer, i) => (i === slot ? change(answer) : answer)),
  };
}
