/** Schemas for clients that work with zod. */
import { z } from "zod";

export const Person = z.object({ name: z.string(), age: z.int(), tags: z.array(z.string()) });

/** The parameters of a function with one argument. */
export const parameters = (argument) =>
  z.object({ [argument]: argument === "celsius" ? z.number() : z.string() });
