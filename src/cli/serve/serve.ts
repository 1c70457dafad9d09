import { configurationFile, type ServeFlags, withPlace } from "./configuration.ts";

/** Serves until Ctrl-C or SIGTERM, or only checks the configuration. Returns the exit code. */
export async function serve(flags: ServeFlags): Promise<number> {
  const file = configurationFile(flags);
  try {
    if (flags.check || flags.probe) {
      const { check } = await import("./check.ts");
      return await check(file, flags);
    }
    const { run } = await import("./run.ts");
    return await run(file, flags);
  } catch (error) {
    throw await withPlace(error, file, flags);
  }
}
