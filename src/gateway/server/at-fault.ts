import { InputError } from "../../core/input/input-error.ts";
import { HttpError } from "../wire/http-error.ts";

/**
 * Returns the result of an operation. If the operation refuses its input, the response names the member `param` of
 * the request.
 */
export async function withParam<T>(param: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (!(error instanceof InputError) || error.field !== undefined) throw error;
    const { file, problem, hint } = error;
    throw new HttpError(400, `${file} ${problem}`, { hint, code: "invalid_value", param });
  }
}
