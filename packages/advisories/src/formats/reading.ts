// The result of reading a publisher's document, and the limits of all readers.
import { z } from 'zod';
import type { AdvisoryRecord } from '../advisory.ts';
import { oneLine, utcTime } from './text.ts';

/** Both are set if a record exceeded the limits: the claims above the limits are left out. */
export interface RecordReading {
  readonly record: AdvisoryRecord | null;
  /** Why it was not read, or not completely; one line. */
  readonly problem: string | null;
}

/** Twice the size of NVD's largest yearly file. */
export const MAX_RECORDS = 100_000;
/** Criteria, version entries or events of one record; the largest published ones have a few thousand. */
export const MAX_CLAIMED = 5_000;
export const MAX_PROBLEMS = 20;
/** A longer array in a record is an attack, not an advisory. */
const MAX_ELEMENTS = 20_000;

export const CveId = z.string().regex(/^CVE-\d{4}-\d{4,19}$/);
export const Time = z.string().max(40).transform(asUtc);
export const Version = z.string().max(1_024);
export const Name = z.string().max(2_048);
export const Texts = bounded(z.object({ lang: z.string().max(64), value: z.string() }));

/** An array whose length is checked before its elements: zod alone would parse a million of them first. */
export function bounded<T extends z.ZodType>(element: T, maxElements = MAX_ELEMENTS) {
  const isShort = (value: unknown) => Array.isArray(value) && value.length <= maxElements;
  return z.custom<unknown[]>(isShort, `expected an array of at most ${maxElements} elements`).pipe(z.array(element));
}

/** The first problem with its path: `containers.cna: expected object`. */
export function complaintOf(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join('.') || 'the document';
  return oneLine(`${path}: ${issue?.message ?? 'unreadable'}`, 300);
}

/** A problem of one record with its id: `CVE-2024-0001: cve.published: expected an ISO 8601 time`. */
export function labelled(id: unknown, complaint: string): string {
  return `${typeof id === 'string' ? oneLine(id, 60) : 'a record without id'}: ${complaint}`;
}

export function unread(id: unknown, complaint: string): RecordReading {
  return { record: null, problem: labelled(id, complaint) };
}

function asUtc(text: string, context: z.RefinementCtx): string {
  const time = utcTime(text);
  if (time !== undefined) return time;
  context.addIssue({ code: 'custom', message: 'expected an ISO 8601 time' });
  return z.NEVER;
}
