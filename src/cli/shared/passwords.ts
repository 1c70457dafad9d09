/** A text with *** in place of the passwords in addresses. */
export function withoutPasswords(text: string): string {
  return text
    .replace(/(:\/\/[^:@/\s]*:)\S*@/g, "$1***@")
    .replace(/([?&]password=)[^&\s]*/g, "$1***");
}
