/** How this program is called where it is: a checkout has no `joust` on the PATH, an installed package has. */
export const JOUST = invocationOf(import.meta.url);

/**
 * Where the user is, if `npm run joust` has led elsewhere: npm runs a script in
 * the package's folder, and a path must mean what it means in the user's shell.
 */
export function callersFolder(env: NodeJS.ProcessEnv): string | undefined {
  return env.npm_lifecycle_event === "joust" ? env.INIT_CWD : undefined;
}

export function invocationOf(moduleUrl: string): string {
  return moduleUrl.includes("/node_modules/") ? "joust" : "npm run -s joust --";
}
