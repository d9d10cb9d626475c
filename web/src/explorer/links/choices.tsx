// A row of links of which one is selected, such as categories or tabs. The selection is in the URL.
import { Link } from '@tanstack/react-router';
import { changed, type Search, withChanges } from './search-params.ts';

interface ChoicesProps<V extends string> {
  /** The accessible name of the group. */
  readonly label: string;
  readonly choices: readonly (readonly [value: V, name: string])[];
  readonly chosen: V;
  /** The value that is not in the URL. */
  readonly byDefault: V;
  /** The search parameter of the value. */
  readonly name: string;
  /** Removes all other parameters. */
  readonly isExclusive?: boolean;
}

export function Choices<V extends string>(props: ChoicesProps<V>) {
  const { label, choices, chosen, byDefault, name, isExclusive = false } = props;
  return (
    <nav className="choices" aria-label={label}>
      {choices.map(([value, text]) => {
        const changes = { [name]: value === byDefault ? undefined : value };
        return (
          <Link
            key={value}
            {...changed(changes)}
            {...(isExclusive && { search: (_: Search) => withChanges({}, changes) })}
            // All choices have the same path: the parameter distinguishes them.
            activeOptions={{ exact: true, includeSearch: true }}
            preload={false}
            aria-current={value === chosen || undefined}
          >
            {text}
          </Link>
        );
      })}
    </nav>
  );
}

interface RoleChoicesProps {
  /** The roles of a category. */
  readonly roles: readonly { readonly role: string; readonly label: string }[];
  /** Undefined: all of them. */
  readonly chosen: string | undefined;
}

/** Nothing for a category with one role. */
export function RoleChoices({ roles, chosen = '' }: RoleChoicesProps) {
  if (roles.length < 2) return null;
  const choices = [['', 'All roles'], ...roles.map(({ role, label }) => [role, label] as const)] as const;
  return <Choices label="Role" choices={choices} chosen={chosen} byDefault="" name="role" />;
}
