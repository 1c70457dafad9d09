/** A request that cannot be translated to Anthropic's API. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
