/** A request that cannot be said in Anthropic's terms: continues "cannot be asked: ". */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
}
