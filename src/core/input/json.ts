import { readFile } from "node:fs/promises";
import type { z } from "zod";
import { messageOf } from "../errors/joust-error.ts";
import { InputError } from "./input-error.ts";
import { checkShape } from "./rows.ts";
import { readError } from "./text.ts";

/** Reads a JSON file and checks it against the shape. `hint` says what to do if it does not match. */
export async function readJson<T>(file: string, shape: z.ZodType<T>, hint: string): Promise<T> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw readError(file, error);
  });
  return checkShape({ file }, parseJson(file, text, hint), shape, hint);
}

/** Like `readJson`, but returns undefined if there is no such file. */
export async function readJsonIfAny<T>(
  file: string,
  shape: z.ZodType<T>,
  hint: string,
): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw readError(file, error);
  });
  if (text === undefined) return undefined;
  return checkShape({ file }, parseJson(file, text, hint), shape, hint);
}

export function parseJson(file: string, text: string, hint: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InputError({ file }, `is not JSON (${messageOf(error)})`, hint);
  }
}
