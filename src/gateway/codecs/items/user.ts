import { createHash } from "node:crypto";

/**
 * Id of the end user as other providers accept it: a long one becomes its hash, which is still the same for all requests
 * of the user. Claude Code sends about 150 characters.
 */
export function acceptedUser(user: string, longest: number, pattern = /^/): string {
  if (user.length <= longest && pattern.test(user)) return user;
  return createHash("sha256").update(user).digest("hex");
}
