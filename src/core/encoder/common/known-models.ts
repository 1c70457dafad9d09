import { resolve, sep } from "node:path";

/** The transformers that have a name of their own here. */
export interface KnownModel {
  readonly name: string;
  /** On the Hugging Face hub. */
  readonly repository: string;
  readonly kind: string;
  readonly dimension: number;
  /** Set before every text, as the model was trained. */
  readonly prefix: string;
}

/** The paper's encoders (section 5.1); MPNet for who wants the best of this size. */
export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    name: "MiniLM",
    repository: "sentence-transformers/all-MiniLM-L6-v2",
    kind: "BERT, 6 layers",
    dimension: 384,
    prefix: "",
  },
  {
    name: "e5b",
    repository: "intfloat/e5-base",
    kind: "BERT, 12 layers",
    dimension: 768,
    prefix: "query: ",
  },
  {
    name: "mpnet",
    repository: "sentence-transformers/all-mpnet-base-v2",
    kind: "MPNet, 12 layers",
    dimension: 768,
    prefix: "",
  },
];

/** The known model whose folder this is, by the folder's name; the hub's own cache has it two levels up. */
export function knownModelAt(folder: string): KnownModel | undefined {
  const parts = resolve(folder).split(sep);
  const cached = /^models--(.+?)--(.+)$/.exec(parts.at(-3) ?? "");
  return knownModel(cached ? `${cached[1]}/${cached[2]}` : parts.at(-1)!);
}

/** By our name or the repository's, with or without its owner; letter case does not count. */
export function knownModel(name: string): KnownModel | undefined {
  const wanted = name.toLowerCase();
  return KNOWN_MODELS.find((model) => namesOf(model).includes(wanted));
}

function namesOf({ name, repository }: KnownModel): string[] {
  return [name, repository, repository.split("/").at(-1)!].map((one) => one.toLowerCase());
}
