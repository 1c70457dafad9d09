import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** A form whose submission the page handles. */
export function Form({
  onSubmit,
  ...rest
}: {
  onSubmit: () => void;
  class?: string;
  "aria-label"?: string;
  children: ComponentChildren;
}) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}

/** The fields of a form. `bind` connects one to its control; `onChange` is called after each change. */
export function useFields<F extends object>(initial: F | (() => F), onChange?: () => void) {
  const [fields, setFields] = useState<F>(initial);
  const set = (changed: Partial<F>) => {
    setFields((before) => ({ ...before, ...changed }));
    onChange?.();
  };
  const bind = <K extends keyof F>(name: K) => ({
    value: fields[name],
    onChange: (value: F[K]) => set({ [name]: value } as unknown as Partial<F>),
  });
  return { fields, set, bind };
}

/** A request that a button or form sends: whether it runs, and the problem or result of the last one. */
export function useAction() {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [result, setResult] = useState<string>();
  const forget = () => {
    setProblem(undefined);
    setResult(undefined);
  };
  return {
    isBusy,
    problem,
    result,
    forget,
    /** A text that `work` returns is the result. Returns whether it succeeded. */
    run: async (work: () => Promise<unknown>): Promise<boolean> => {
      setIsBusy(true);
      forget();
      try {
        const done = await work();
        if (typeof done === "string") setResult(done);
        return true;
      } catch (error) {
        setProblem((error as Error).message);
        return false;
      } finally {
        setIsBusy(false);
      }
    },
  };
}
