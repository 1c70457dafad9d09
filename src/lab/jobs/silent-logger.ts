import { Logger } from "graphile-worker";

/** Standard output is the command's, and what goes wrong is told by whoever asked. */
export const SILENT = new Logger(() => () => {});
