// A select that filters a list; the empty option selects all.
interface ChoiceProps<V extends string> {
  readonly label: string;
  readonly value: V | undefined;
  readonly values: readonly V[];
  readonly nameOf: (value: V) => string;
  /** Undefined for all. */
  readonly onChange: (value: V | undefined) => void;
}

export function Choice<V extends string>({ label, value, values, nameOf, onChange }: ChoiceProps<V>) {
  return (
    <label className="choice">
      {label}
      <select value={value ?? ''} onChange={({ target }) => onChange(values.find((known) => known === target.value))}>
        <option value="">All</option>
        {values.map((known) => (
          <option key={known} value={known}>
            {nameOf(known)}
          </option>
        ))}
      </select>
    </label>
  );
}
