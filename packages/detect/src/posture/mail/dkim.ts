// Observed DKIM keys (RFC 6376 §3.6.1, RFC 8301, RFC 8463): type, size, permitted use. Never scored: the selectors of a
// domain cannot be enumerated, so other keys may exist.

import { isMeasured } from '../../evidence/evidence.ts';
import type { Reading } from '../../evidence/reading.ts';
import { cutText } from '../../evidence/text.ts';
import type { DkimKey, Posture } from '../../profile.ts';
import { isDkimLabel } from '../../rulebook/patterns.ts';
import { rsaModulusBits } from './rsa-key.ts';

const MAX_KEYS = 32;
const MAX_TAGS = 32;
/** A 16,384-bit key is 2,900 characters in base64. */
const MAX_RECORD_LENGTH = 4096;
const ED25519_BYTES = 32;
/** RFC 8301 §3.2: verifiers need not accept less than 1,024 bits, and signers should use 2,048. */
const WEAK_RSA_BITS = 1024;
const RECOMMENDED_RSA_BITS = 2048;

/** Measured if every requested selector was answered. */
export function dkimPart(reading: Reading): Posture['dkim'] {
  const keys: DkimKey[] = [];
  for (const { label, lookup } of reading.named) {
    if (lookup.records.length === 0 || !isDkimLabel(label)) continue;
    const selector = cutText(label.slice(0, -'._domainkey'.length), 128);
    for (const record of lookup.records) {
      const key = readDkimKey(selector, record);
      if (key && keys.length < MAX_KEYS) keys.push(key);
    }
  }
  const usable = keys.filter(({ problem }) => problem !== 'revoked');
  const status = usable.length > 0 ? 'observed' : isEverySelectorMeasured(reading) ? 'absent' : 'unmeasured';
  keys.sort((a, b) => (a.selector < b.selector ? -1 : 1));
  return { status, selectors: [...new Set(usable.map(({ selector }) => selector))].sort(), keys };
}

/** At least one was requested, and all were answered. */
function isEverySelectorMeasured({ evidence, named }: Reading): boolean {
  if (named.some(({ label, lookup }) => isDkimLabel(label) && !isMeasured(lookup.status))) return false;
  return Object.keys(evidence.dns.named).some(isDkimLabel);
}

/** The key in a TXT record, null if the record is not a key. */
export function readDkimKey(selector: string, record: string): DkimKey | null {
  const tags = new Map<string, string>();
  for (const part of record.slice(0, MAX_RECORD_LENGTH).split(';', MAX_TAGS)) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    if (equals !== -1 && !tags.has(name)) tags.set(name, part.slice(equals + 1).trim());
  }
  const published = tags.get('p');
  const version = tags.get('v');
  if (published === undefined || (version !== undefined && version !== 'DKIM1')) return null;
  const type = (tags.get('k') ?? 'rsa').toLowerCase();
  const hashes = listOf(tags.get('h'));
  const flags = listOf(tags.get('t'));
  const bytes = decodeBase64(published);
  const bits = bytes === null ? null : sizeOf(type, bytes);
  return {
    selector,
    type: cutText(type, 16),
    bits,
    isTesting: flags.includes('y'),
    problem: published === '' ? 'revoked' : problemOf({ type, bits, hashes, services: listOf(tags.get('s')) }),
  };
}

const SERVICES: ReadonlySet<string> = new Set(['*', 'email', 'tlsrpt']);

interface KeyFacts {
  readonly type: string;
  readonly bits: number | null;
  readonly hashes: readonly string[];
  readonly services: readonly string[];
}

function problemOf({ type, bits, hashes, services }: KeyFacts): DkimKey['problem'] {
  if (type !== 'rsa' && type !== 'ed25519') return 'unknown-type';
  if (bits === null) return 'unreadable';
  // RFC 8301 §3.1: rsa-sha1 must be neither signed nor verified.
  if (hashes.length > 0 && !hashes.includes('sha256')) return 'sha1-only';
  // RFC 8460 §3: keys of tlsrpt sign the reports that the domain sends.
  if (services.length > 0 && !services.some((service) => SERVICES.has(service))) return 'not-for-mail';
  if (type === 'rsa' && bits < WEAK_RSA_BITS) return 'weak';
  return type === 'rsa' && bits < RECOMMENDED_RSA_BITS ? 'short' : null;
}

function sizeOf(type: string, bytes: Uint8Array): number | null {
  if (type === 'ed25519') return bytes.length === ED25519_BYTES ? 256 : null;
  return type === 'rsa' ? rsaModulusBits(bytes) : null;
}

function listOf(value: string | undefined): readonly string[] {
  return value === undefined || value === ''
    ? []
    : value
        .toLowerCase()
        .split(':', MAX_TAGS)
        .map((item) => item.trim());
}

/** Folding white space may occur anywhere in the value (§3.2). */
function decodeBase64(text: string): Uint8Array | null {
  const digits = text.replace(/\s+/g, '').replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]+$/.test(digits) || digits.length % 4 === 1) return null;
  const characters = atob(digits);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
