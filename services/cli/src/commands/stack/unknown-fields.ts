// Names the fields of records that nothing reads: a misspelt one would else look like evidence that proves nothing.
import { evidenceFromRecord, RecordError } from '@strata/detect';

/** Whoever pipes in something else entirely is not told of each of its fields. */
const MAX_NAMED = 20;

/** Records with one more field in each of the places where fields stand. */
const places: readonly { readonly of: string; readonly record: (field: object) => object }[] = [
  { of: '', record: (field) => ({ domain: 'example.com', ...field }) },
  {
    of: 'mx',
    record: (field) => ({ domain: 'example.com', mx: [{ preference: 1, exchange: 'a.example', ...field }] }),
  },
  ...['a', 'aaaa', 'www'].map((of) => ({
    of,
    record: (field: object) => ({ domain: 'example.com', [of]: [{ address: '192.0.2.1', ...field }] }),
  })),
  {
    of: 'ns_addresses',
    record: (field) => ({
      domain: 'example.com',
      ns_addresses: [{ host: 'a.example', address: '192.0.2.1', ...field }],
    }),
  },
];

/** Returns a function that calls `tell` once for each field name that no record can have. */
export function unknownFieldWatch(tell: (message: string) => void): (record: unknown, line: number) => void {
  const seen = new Set<string>();
  let named = 0;
  return (record, line) => {
    if (named > MAX_NAMED || typeof record !== 'object' || record === null) return;
    for (const { of, record: build } of places) {
      for (const name of namesAt(record as Record<string, unknown>, of)) {
        const path = of === '' ? name : `${of}[].${name}`;
        if (named > MAX_NAMED || seen.has(path)) continue;
        seen.add(path);
        if (isRead(build({ [name]: true }))) continue;
        named += 1;
        if (named > MAX_NAMED) tell('more fields are unknown and not named here');
        else tell(`line ${line}: the field ${JSON.stringify(path.slice(0, 60))} is unknown and ignored`);
      }
    }
  };
}

/** Field names of the record itself, or of the entries of its list `of`. */
function namesAt(record: Readonly<Record<string, unknown>>, of: string): readonly string[] {
  if (of === '') return Object.keys(record);
  const list = record[of];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.keys(entry) : []));
}

/** `true` is of no field's type: whoever reads the field refuses it. So there is no second list of fields to keep. */
function isRead(record: object): boolean {
  try {
    evidenceFromRecord(record);
    return false;
  } catch (error) {
    if (error instanceof RecordError) return true;
    throw error;
  }
}
