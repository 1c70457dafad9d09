/** Whether the result of a tool looks like an error. Only Messages says so explicitly. */
export function looksLikeError(result: string): boolean {
  return ERROR.test(result.slice(0, 200));
}

const ERROR = /^\s*(?:error\b|traceback \(most recent call last\)|\{\s*"error"\s*:\s*[^nf\s])/i;
