// A labelled select; its first option is empty and selects all.

export type Option = readonly [value: string, name: string];

interface SelectProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly options: readonly Option[];
  /** Undefined for the empty option. */
  readonly onChange: (value: string | undefined) => void;
  /** The name of the empty option; null if every value is chosen explicitly. */
  readonly all?: string | null;
  readonly isDisabled?: boolean;
}

export function Select({ label, value = '', options, onChange, all = 'All', isDisabled = false }: SelectProps) {
  return (
    <label className="choice">
      {label}
      <select value={value} disabled={isDisabled} onChange={({ target }) => onChange(target.value || undefined)}>
        {all !== null && <option value="">{all}</option>}
        <Options options={options} />
      </select>
    </label>
  );
}

export function Options({ options }: { readonly options: readonly Option[] }) {
  return options.map(([value, name]) => (
    <option key={value} value={value}>
      {name}
    </option>
  ));
}
