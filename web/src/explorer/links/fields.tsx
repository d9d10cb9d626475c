// The fields of a form whose values are applied to the URL together, since each change uses requests.
import { type RefObject, useId, useLayoutEffect, useRef } from 'react';
import { type Option, Options } from '../../ui/controls/select.tsx';

/** Sets the field to the value in the URL whenever that changes; keeps user input and focus until then. */
function useUrlValue(field: RefObject<HTMLInputElement | HTMLSelectElement | null>, value = ''): void {
  useLayoutEffect(() => {
    if (field.current) field.current.value = value;
  }, [field, value]);
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
}

interface TextFieldProps extends FieldProps {
  readonly placeholder?: string;
  readonly maxLength?: number;
}

export function TextField({ label, name, value, placeholder, maxLength = 256 }: TextFieldProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useUrlValue(field, value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        ref={field}
        placeholder={placeholder}
        maxLength={maxLength}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
    </div>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly options?: readonly Option[];
  readonly groups?: readonly (readonly [name: string, options: readonly Option[]])[];
  /** The name of a value that is not among the options. */
  readonly nameOf?: (value: string) => string;
  /** There is no option “Any”. */
  readonly isRequired?: boolean;
}

/** An unknown value in the URL is kept as an option, so that the service can report it. */
export function SelectField(props: SelectFieldProps) {
  const { label, name, value, options = [], groups = [], nameOf = String, isRequired = false } = props;
  const id = useId();
  const select = useRef<HTMLSelectElement>(null);
  useUrlValue(select, value);
  const isKnown = [...options, ...groups.flatMap(([, grouped]) => grouped)].some(([known]) => known === value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} name={name} ref={select}>
        {!isRequired && <option value="">Any</option>}
        {value !== undefined && !isKnown && <option value={value}>{nameOf(value)}</option>}
        <Options options={options} />
        {groups.map(([group, grouped]) => (
          <optgroup key={group} label={group}>
            <Options options={grouped} />
          </optgroup>
        ))}
      </select>
    </div>
  );
}
