/** Properties of a control that selects one of several options. */
export interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly {
    readonly value: T;
    readonly text: string;
    /** Rest of the text, which only screen readers get on a narrow screen. */
    readonly detail?: string;
  }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}
