import { createHash } from "node:crypto";

/** A prompt of an evaluation, with whatever is known about a good answer to it. */
export interface EvaluationPrompt {
  readonly id: string;
  readonly text: string;
  readonly category?: string | undefined;
  /** Reference answers. An answer is right if it agrees with one of them. */
  readonly answers?: readonly string[] | undefined;
  /** Regular expression that a right answer matches. */
  readonly regex?: string | undefined;
  /** JSON schema that a right answer follows. */
  readonly schema?: object | undefined;
}

/** Key of a prompt in the journal. Equal texts have equal keys, in whatever file they are. */
export function promptKey({ text }: Pick<EvaluationPrompt, "text">): string {
  return hashOf(text);
}

/** Short hash of a list of strings. */
export function hashOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);
}
