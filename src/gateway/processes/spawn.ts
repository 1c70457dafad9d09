import { fork } from "node:child_process";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { moduleUrl } from "../../core/input/project.ts";
import { Link } from "../../core/processes/link.ts";
import { LINK_DESCRIPTOR, type Passed } from "./messages.ts";

/** A process that was started for a gateway. */
export interface Spawned {
  readonly pid: number | undefined;
  readonly link: Link;
  /** Resolves to the reason when the process has ended, for example "signal SIGKILL". */
  readonly ended: Promise<string>;
  /** Passes a connection of an address to the process. */
  pass(socket: Socket, address: string): void;
  kill(): void;
}

/** Starts a process whose gateway gets its messages and connections from this one. */
export function spawnGateway(): Spawned {
  const file = fileURLToPath(moduleUrl(new URL("./gateway.worker.ts", import.meta.url)));
  const stdio = ["ignore", "inherit", "inherit", "ipc", "pipe"] as const;
  const child = fork(file, [], { stdio: [...stdio] });
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  /** Connections that were not sent yet. Node forgets them if the process ends, and their clients would wait. */
  const unsent = new Set<Socket>();
  ended.then(() => {
    for (const socket of unsent) socket.destroy();
  });
  // Unlike "exit", "close" comes after the last message of the process, which may say why it ends.
  child.on("close", (code, signal) => end(signal ? `signal ${signal}` : `exit code ${code}`));
  child.on("error", (error) => end(error.message));
  return {
    pid: child.pid,
    link: new Link(child.stdio[LINK_DESCRIPTOR] as Duplex),
    ended,
    pass: (socket, address) => {
      // A process that has just ended loses its connections, as a crash does.
      if (!child.connected) return void socket.destroy();
      unsent.add(socket);
      // The other process has its own descriptor as soon as the message is sent.
      child.send({ address } satisfies Passed, socket, { keepOpen: true }, () => {
        unsent.delete(socket);
        socket.destroy();
      });
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
