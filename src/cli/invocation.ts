/** How this program is called where it is: a checkout has no `joust` on the PATH, an installed package has. */
export const JOUST = invocationOf(import.meta.url);

export function invocationOf(moduleUrl: string): string {
  return moduleUrl.includes("/node_modules/") ? "joust" : "npm run -s joust --";
}
