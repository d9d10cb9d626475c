// A select whose value is a search parameter of the page.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type Option, Select } from '../../ui/controls/select.tsx';
import { changed, oneOf, type Search } from './search-params.ts';

interface ParameterProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly Option[];
  readonly all?: string;
  readonly isDisabled?: boolean;
}

/** An unknown value in the URL is ignored. */
export function Parameter({ name, options, ...select }: ParameterProps) {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const values = options.map(([value]) => value);
  return (
    <Select
      {...select}
      options={options}
      value={oneOf(search[name], values)}
      onChange={(value) => void navigate(changed({ [name]: value }))}
    />
  );
}
