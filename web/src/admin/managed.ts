import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { ApiError, type Configuration, type ConfigurationChange } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { useRead } from "../page/use-read.ts";

/** A change that was refused because somebody else has changed the configuration first. */
interface Conflict {
  /** Names the changed entries and the keys that changed them. */
  readonly message: string;
  readonly changes: readonly ConfigurationChange[];
}

/** The configuration of the gateway, and the way to change it. */
export interface Managed {
  readonly configuration: Configuration;
  readonly isEditable: boolean;
  readonly conflict: Conflict | undefined;
  /** The problem of the last change. */
  readonly problem: string | undefined;
  /** A remark about the last change, which was saved or not needed. */
  readonly remark: string | undefined;
  readonly isBusy: boolean;
  /** Returns whether the change was saved. */
  change(changes: readonly ConfigurationChange[]): Promise<boolean>;
  revert(revision: number): Promise<boolean>;
  /** Shows a configuration that another request has returned. */
  adopt(configuration: Configuration): void;
  /** Forgets the problem, the conflict and the remark. */
  dismiss(): void;
}

const ManagedContext = createContext<Managed | undefined>(undefined);
export const ManagedProvider = ManagedContext.Provider;

export function useManaged(): Managed {
  return useContext(ManagedContext)!;
}

/** Reads the configuration and keeps the last state of changes. `managed` is undefined until it has been read. */
export function useConfiguration(): { managed: Managed | undefined; problem: string | undefined } {
  const { reloadModels } = usePage();
  const read = useRead(() => joust.configuration());
  const { data: configuration } = read;
  const [problem, setProblem] = useState<string>();
  const [conflict, setConflict] = useState<Conflict>();
  const [remark, setRemark] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const adopt = (next: Configuration) => {
    read.set(next);
    setProblem(undefined);
    setConflict(undefined);
    setRemark(remarkOn(next));
    reloadModels();
  };
  const run = async (
    send: (revision: number) => Promise<Configuration>,
    changes: readonly ConfigurationChange[],
  ): Promise<boolean> => {
    setIsBusy(true);
    setProblem(undefined);
    try {
      adopt(await send(configuration!.revision));
      return true;
    } catch (error) {
      const { message, code, problem: text } = error as ApiError;
      if (error instanceof ApiError && code === "configuration_changed") {
        setConflict({ message: text, changes });
        await read.refresh();
      } else setProblem(message);
      return false;
    } finally {
      setIsBusy(false);
    }
  };
  if (!configuration) return { managed: undefined, problem: read.problem };
  const isEditable = configuration.managed_by === "store";
  return {
    problem: read.problem,
    managed: {
      configuration,
      isEditable,
      conflict,
      problem,
      remark,
      isBusy,
      adopt,
      change: (changes) =>
        run(
          (revision) =>
            joust.changeConfiguration({
              based_on: revision,
              changes: changes as ConfigurationChange[] as never,
            }),
          changes,
        ),
      revert: (revision) =>
        run((based) => joust.revertConfiguration({ based_on: based, revision }), []),
      dismiss: () => {
        setProblem(undefined);
        setConflict(undefined);
        setRemark(undefined);
      },
    },
  };
}

/** Names the secrets that going back to a revision has left as they are. */
function remarkOn({ kept_secrets: kept = [] }: Configuration): string | undefined {
  if (kept.length === 0) return undefined;
  return `These secrets were replaced after that revision and keep their new values: ${kept.join(", ")}.`;
}
