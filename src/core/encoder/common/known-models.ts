import { resolve, sep } from "node:path";

/** A transformer with a short name. */
export interface KnownModel {
  readonly name: string;
  /** Repository on the Hugging Face hub. */
  readonly repository: string;
  readonly kind: string;
  readonly dimension: number;
  /** Text that is put before every text to encode, because the model was trained with it. */
  readonly prefix: string;
}

/** The paper's encoders (section 5.1), and MPNet, which is the best of its size. */
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

/** Recognises a known model by the name of its folder, or in Hugging Face's cache by the folder two levels up. */
export function knownModelAt(folder: string): KnownModel | undefined {
  const parts = resolve(folder).split(sep);
  const cached = /^models--(.+?)--(.+)$/.exec(parts.at(-3) ?? "");
  return knownModel(cached ? `${cached[1]}/${cached[2]}` : parts.at(-1)!);
}

/** Finds a known model by its short name or its repository, with or without the owner, in any letter case. */
export function knownModel(name: string): KnownModel | undefined {
  const wanted = name.toLowerCase();
  return KNOWN_MODELS.find((model) => namesOf(model).includes(wanted));
}

function namesOf({ name, repository }: KnownModel): string[] {
  return [name, repository, repository.split("/").at(-1)!].map((one) => one.toLowerCase());
}
