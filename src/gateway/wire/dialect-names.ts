/** Wire formats of requests and answers: OpenAI's chat completions and Responses, Anthropic's Messages. */
export const DIALECTS = ["chat", "responses", "messages"] as const;
export type DialectName = (typeof DIALECTS)[number];

/** Dialects that an upstream speaks, with the address of the endpoint of each. */
export type DialectUrls = {
  readonly [D in DialectName]?: string | undefined;
};
