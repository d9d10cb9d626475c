// The records of a simulated zone.

export type RecordType = 'A' | 'AAAA' | 'NS' | 'SOA' | 'MX' | 'TXT' | 'CAA' | 'DS' | 'CNAME';

/** Data in the form that dns-packet encodes. */
export interface ZoneRecord {
  readonly type: RecordType;
  readonly data: unknown;
}

/** Adds a record under a label, '' for the apex. */
export type Put = (label: string, type: RecordType, data: unknown) => void;
