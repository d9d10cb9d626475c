// A generic list of the fields of an object, for details that need no layout of their own.
import { formatName, formatNumber, formatTime } from '../../../ui/formats.ts';

/** Every field of an object; null is shown as a dash. */
export function FieldList({ value }: { readonly value: object }) {
  return (
    <dl className="field-list">
      {Object.entries(value).map(([name, field]) => (
        <div key={name}>
          <dt>{formatName(name)}</dt>
          <dd>{textOf(field)}</dd>
        </div>
      ))}
    </dl>
  );
}

function textOf(field: unknown): string {
  if (field === null || field === undefined || field === '') return '–';
  if (typeof field === 'boolean') return field ? 'yes' : 'no';
  if (typeof field === 'number') return formatNumber(field);
  if (typeof field === 'string') return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(field) ? formatTime(field) : field;
  if (Array.isArray(field)) return field.length === 0 ? 'none' : field.map(textOf).join('; ');
  return Object.entries(field as object)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')} ${textOf(inner)}`)
    .join(', ');
}
