/** A request that cannot be said in Anthropic's terms: continues "cannot be asked: ". */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
