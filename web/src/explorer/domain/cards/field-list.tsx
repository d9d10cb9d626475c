// Fields of an answer as names and values, whatever they are: for what is looked at rarely and should still be there.
import { formatName, formatNumber, formatTime } from '../../../ui/formats.ts';

/** Every field of an object; what is null is a dash. */
export function Parts({ value }: { readonly value: object }) {
  return (
    <dl className="parts">
      {Object.entries(value).map(([name, part]) => (
        <div key={name}>
          <dt>{formatName(name)}</dt>
          <dd>{wordOf(part)}</dd>
        </div>
      ))}
    </dl>
  );
}

function wordOf(part: unknown): string {
  if (part === null || part === undefined || part === '') return '–';
  if (typeof part === 'boolean') return part ? 'yes' : 'no';
  if (typeof part === 'number') return formatNumber(part);
  if (typeof part === 'string') return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(part) ? formatTime(part) : part;
  if (Array.isArray(part)) return part.length === 0 ? 'none' : part.map(wordOf).join('; ');
  return Object.entries(part as object)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')} ${wordOf(inner)}`)
    .join(', ');
}
