// What the forms and lists of the administration have in common.
import { type ComponentProps, type FormEvent, type ReactNode, useId, useState } from 'react';
import { Loading, Notice, Retry } from '../../ui/states.tsx';
import type { useAdmin } from './admin-client.ts';

/** Runs the work when the form is sent; an Error of it is shown. */
export function useForm(work: () => Promise<void>) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    setProblem('');
    await work().catch((error: Error) => setProblem(error.message));
    setBusy(false);
  };
  const form = {
    className: 'admin-form stack',
    onSubmit: (event: FormEvent) => {
      event.preventDefault();
      void submit();
    },
  };
  return { form, isBusy, alert: <p role="alert">{problem}</p> };
}

/** The values of a form with text fields, and the properties of each. */
export function useFields<Fields extends Readonly<Record<string, string>>>(empty: Fields) {
  const [fields, setFields] = useState(empty);
  const field = (name: keyof Fields) => ({
    // Every field has a value.
    value: fields[name] as string,
    onChange: (value: string | undefined) => setFields({ ...fields, [name]: value ?? '' }),
  });
  return { fields, field, clear: () => setFields(empty) };
}

interface FieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  readonly label: string;
  readonly onChange: (value: string) => void;
}

export function Field({ label, onChange, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className="admin-field">
      <label htmlFor={id}>{label}</label>
      <input {...input} id={id} autoComplete="off" onChange={({ target }) => onChange(target.value)} />
    </div>
  );
}

interface ReadProps<Answer> {
  readonly of: Pick<ReturnType<typeof useAdmin<Answer>>, 'data' | 'error' | 'refetch'>;
  /** As in "The keys cannot be read". */
  readonly what: string;
  readonly children: (data: Answer) => ReactNode;
}

/** The answer of the service once it is there. */
export function Read<Answer>({ of: { data, error, refetch }, what, children }: ReadProps<Answer>) {
  if (data) return children(data);
  if (!error) return <Loading />;
  return (
    <Notice title={`The ${what} cannot be read`} tone="warn" actions={<Retry onRetry={() => void refetch()} />}>
      <p>{error.message}</p>
    </Notice>
  );
}
