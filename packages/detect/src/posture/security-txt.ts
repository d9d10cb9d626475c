// security.txt (RFC 9116): where to report a vulnerability to the owner.

import type { Reading } from '../evidence/reading.ts';
import type { Posture, SecurityTxtProblem } from '../profile.ts';
import { UNMEASURED } from './unmeasured.ts';

const MAX_LINES = 256;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
const SIGNED = '-----BEGIN PGP SIGNED MESSAGE-----';

export function securityTxtPart({ evidence, webAnswer, hasNoWeb }: Reading): Posture['securityTxt'] {
  const file = evidence.files?.securityTxt;
  if (hasNoWeb) return { ...UNMEASURED.securityTxt, status: 'absent' };
  // A domain that only redirects does not need the file; if it exists it is reported.
  if (webAnswer === 'redirect' && file?.status !== 'found') return { ...UNMEASURED.securityTxt, status: 'absent' };
  if (file?.status === 'missing') return { ...UNMEASURED.securityTxt, status: 'absent' };
  if (file?.status !== 'found') return UNMEASURED.securityTxt;
  // Sites that answer every path with their home page have no such file.
  const isPage =
    /^\s*(?:<!doctype|<html)/i.test(file.text.slice(0, 256)) || /^text\/html/i.test(file.contentType ?? '');
  if (isPage) return { ...UNMEASURED.securityTxt, status: 'absent' };
  const fields = readFields(file.text);
  const expires = fields.get('expires')?.[0] ?? null;
  const at = expires !== null && RFC3339.test(expires) ? Date.parse(expires) : Number.NaN;
  return {
    status: 'observed',
    expires: Number.isNaN(at) ? null : new Date(at).toISOString(),
    isSigned: file.text.trimStart().startsWith(SIGNED),
    problem: problemOf(fields, at, Date.parse(evidence.observedAt)),
  };
}

/** §2.5.3, §2.5.5: Contact at least once and as a URI, Expires exactly once. */
function problemOf(
  fields: ReadonlyMap<string, readonly string[]>,
  expires: number,
  now: number,
): SecurityTxtProblem | null {
  const contacts = fields.get('contact') ?? [];
  if (!contacts.some((contact) => /^(?:https:|mailto:|tel:)\S+$/i.test(contact))) return 'no-contact';
  if (fields.get('expires')?.length !== 1 || Number.isNaN(expires)) return 'no-expiry';
  return expires <= now ? 'expired' : null;
}

function readFields(text: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/, MAX_LINES)) {
    const [, name, value] = /^([a-z-]{1,64}):[ \t]*(.*)$/i.exec(line.slice(0, 1024)) ?? [];
    if (name === undefined || value === undefined) continue;
    const known = fields.get(name.toLowerCase());
    if (known) known.push(value.trim());
    else fields.set(name.toLowerCase(), [value.trim()]);
  }
  return fields;
}
