// Long lists as parameters: a server refuses a field of a request above `http_max_field_value_size`, 131,072 bytes by default.
import { ClickHouseError } from './clickhouse-error.ts';

/** Values of `{name:Type}` in a statement: never part of its text. */
export type Params = Readonly<Record<string, ParamValue>>;
type ParamValue = string | number | boolean | null | readonly (string | number | null)[];
type List = Extract<ParamValue, readonly unknown[]>;

const MAX_FIELD_BYTES = 131_072;
/** Of all long lists of a statement, 64 MiB: the server reads them into memory before its limits apply. */
const MAX_PARTS = 512;

/**
 * The statement with each list that is too long for one field as several, concatenated by ClickHouse. Throws a ClickHouseError
 * if they are too long for a statement.
 */
export function withShortLists(text: string, params: Params): { readonly text: string; readonly params: Params } {
  const short: Record<string, ParamValue> = {};
  const partNames = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(params)) {
    const parts = Array.isArray(value) ? partsOf(value) : [value];
    const names = parts.map((_, i) => (parts.length === 1 ? name : `${name}_${i}`));
    names.forEach((part, i) => {
      short[part] = parts[i] ?? null;
    });
    if (names.length > 1) partNames.set(name, names);
  }
  if ([...partNames.values()].flat().length > MAX_PARTS)
    throw new ClickHouseError(
      'refused',
      `the lists of a statement are longer than ${MAX_PARTS * MAX_FIELD_BYTES} bytes`,
    );
  const concatenated = text.replace(/\{(\w+):([^{}]+)\}/g, (placeholder, name: string, type: string) => {
    const names = partNames.get(name);
    return names ? `arrayConcat(${names.map((part) => `{${part}:${type}}`).join(', ')})` : placeholder;
  });
  return { text: concatenated, params: short };
}

function partsOf(list: List): List[] {
  const parts: (string | number | null)[][] = [[]];
  let bytes = 0;
  for (const value of list) {
    // Each character may be escaped, and a text has quotes and a comma.
    const size = Buffer.byteLength(String(value)) * 2 + 3;
    if (bytes + size > MAX_FIELD_BYTES - 2 && bytes > 0) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(value);
    bytes += size;
  }
  return parts;
}
