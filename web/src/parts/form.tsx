import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

/** A form whose submission the page handles. */
export function Form({
  onSubmit,
  ...rest
}: {
  onSubmit: () => void;
  class?: string;
  "aria-label"?: string;
  /** Whether the form can be submitted while a field is invalid. */
  noValidate?: boolean;
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

interface ActionState<T> {
  readonly isBusy: boolean;
  readonly problem?: string;
  readonly result?: T;
}

const IDLE = { isBusy: false };

/**
 * A request that a button or form sends: whether it is running, and the problem or result of the last one. `forget` removes
 * both, and the response of a request that is still running is then ignored.
 */
export function useAction<T = unknown>(textOf = ({ message }: Error): string => message) {
  const [state, setState] = useState<ActionState<T>>(IDLE);
  const runs = useRef(0);
  return {
    isBusy: state.isBusy,
    problem: state.problem,
    result: state.result,
    forget: () => {
      runs.current++;
      setState(IDLE);
    },
    /** Returns whether it succeeded. */
    run: async (work: () => Promise<T>): Promise<boolean> => {
      const own = ++runs.current;
      const end = (found: Omit<ActionState<T>, "isBusy">) => {
        if (own === runs.current) setState({ isBusy: false, ...found });
      };
      setState({ isBusy: true });
      try {
        end({ result: await work() });
        return true;
      } catch (error) {
        end({ problem: textOf(error as Error) });
        return false;
      }
    },
  };
}
