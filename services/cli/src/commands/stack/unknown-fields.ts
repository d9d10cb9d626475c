// Reports unknown fields of records. Otherwise a misspelt field would be ignored silently.
import { evidenceFromRecord, RecordError } from '@strata/detect';

/** For input that is something else entirely, only the first fields are reported. */
const MAX_REPORTED = 20;

/** For each object that has fields, a valid record with an additional field in it. */
const objects: readonly { readonly of: string; readonly record: (field: object) => object }[] = [
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

/** Returns a function that calls `report` once for each unknown field name. */
export function unknownFieldReporter(report: (message: string) => void): (record: unknown, line: number) => void {
  const known = new Set<string>();
  let reported = 0;
  return (record, line) => {
    if (reported > MAX_REPORTED || typeof record !== 'object' || record === null) return;
    for (const { of, record: build } of objects) {
      for (const name of namesAt(record as Record<string, unknown>, of)) {
        const path = of === '' ? name : `${of}[].${name}`;
        if (reported > MAX_REPORTED || known.has(path)) continue;
        known.add(path);
        if (isRead(build({ [name]: true }))) continue;
        reported += 1;
        if (reported > MAX_REPORTED) report('further unknown fields are not listed');
        else report(`line ${line}: ignored unknown field ${JSON.stringify(path.slice(0, 60))}`);
      }
    }
  };
}

/** Field names of the record, or of the entries of its list `of`. */
function namesAt(record: Readonly<Record<string, unknown>>, of: string): readonly string[] {
  if (of === '') return Object.keys(record);
  const list = record[of];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.keys(entry) : []));
}

/** No field has the type of `true`, so a known field is rejected. This avoids a second list of field names. */
function isRead(record: object): boolean {
  try {
    evidenceFromRecord(record);
    return false;
  } catch (error) {
    if (error instanceof RecordError) return true;
    throw error;
  }
}
