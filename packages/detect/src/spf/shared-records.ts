// A cache of parsed records: what a provider publishes is the same for every domain that includes it, and parsing it is
// most of the work of a policy.
import { parseRecord, type SpfRecord } from './record.ts';

/** In total a few MiB at most; longer records are rare and are parsed each time. */
const MAX_RECORDS = 1024;
const MAX_LENGTH = 512;

const parsed = new Map<string, SpfRecord>();

/** As `parseRecord`. */
export function parseShared(record: string): SpfRecord {
  if (record.length > MAX_LENGTH) return parseRecord(record);
  const known = parsed.get(record);
  if (known) return known;
  // Hostile records may fill the cache; records in use return quickly.
  if (parsed.size >= MAX_RECORDS) parsed.clear();
  const read = parseRecord(record);
  parsed.set(record, read);
  return read;
}
