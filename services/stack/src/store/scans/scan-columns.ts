// The columns of the rows that record scans, in the order of their values, with their types.

import type { JsonColumns } from '@strata/db';

export const SERVICE = {
  confidence: 'text',
  score: 'real',
  evidence: 'text',
  version: 'text',
  platform: 'text',
  status: 'text',
  last_seen: 'integer',
  first_missed: 'integer',
} as const satisfies JsonColumns;
export const UPDATED = {
  last_scanned_at: 'integer',
  measured: 'text',
  rulebook: 'text',
  next_due_at: 'integer',
  failures: 'integer',
  is_waiting: 'integer',
  tracked_ms: 'integer',
  changes_seen: 'real',
  record_digest: 'text',
  first_scanned_at: 'integer',
  changed_at: 'integer',
} as const satisfies JsonColumns;
export const PUBLISHED = {
  state: 'text',
  sector: 'text',
  posture_bits: 'integer',
  holder_bits: 'integer',
  score: 'integer',
  country: 'text',
  summary: 'text',
} as const satisfies JsonColumns;
export const NEW_DOMAIN = { name: 'text', source: 'text', created_at: 'integer', next_due_at: 'integer' } as const;
export const SCAN = {
  domain_id: 'domains.id',
  started_at: 'integer',
  finished_at: 'integer',
  state: 'text',
  rulebook: 'text',
  services: 'integer',
  unmeasured: 'text',
  observed_at: 'integer',
  records: 'integer',
} as const satisfies JsonColumns;
export const BEGUN = {
  domain_id: 'domains.id',
  category: 'text',
  role: 'text',
  provider: 'text',
  valid_from: 'integer',
  ...SERVICE,
} as const satisfies JsonColumns;
export const CHANGE = {
  domain_id: 'domains.id',
  scan_id: 'scans.id',
  at: 'integer',
  confirmed_at: 'integer',
  category: 'text',
  role: 'text',
  type: 'text',
  from_provider: 'text',
  to_provider: 'text',
  confidence: 'text',
  importance: 'text',
  is_entry: 'integer',
  is_exit: 'integer',
} as const satisfies JsonColumns;
/** `rest` is the payload without its braces and without the numbers that are inserted before it. */
export const EVENT = {
  at: 'integer',
  kind: 'text',
  domain: 'text',
  domain_id: 'domains.id',
  change_id: 'changes.id',
  rest: 'text',
} as const satisfies JsonColumns;
export const EVIDENCE = {
  domain_id: 'domains.id',
  observed_at: 'integer',
  body: 'blob',
} as const satisfies JsonColumns;
export const RECORD_KEY = {
  domain_id: 'domains.id',
  kind: 'text',
  value: 'text',
  first_seen: 'integer',
} as const satisfies JsonColumns;
export const RECORD = { ...RECORD_KEY, last_seen: 'integer', ended_at: 'integer' } as const satisfies JsonColumns;
export const DIGEST = { name: 'text', digest: 'text' } as const satisfies JsonColumns;
export const PLANNED = { name: 'text', revision: 'integer' } as const satisfies JsonColumns;
