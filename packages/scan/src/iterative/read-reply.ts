// What a name server of a zone says: an answer, a referral further down, or that it has no idea (RFC 1034 §4.3, RFC 2308).
import { failed, isInZone, type Reading, readAnswer } from '../answer.ts';
import { type AuthorityMessage, type RawRecord, RCODE, readAuthorityMessage } from '../message.ts';
import { Malformed } from '../message-reader.ts';
import { type RecordType, readData, TYPE_CODES } from '../records.ts';
import type { Referral } from './zones.ts';

export type Reply =
  | { readonly kind: 'answer'; readonly reading: Reading<unknown> }
  /** It has an answer but does not say that the zone is its own: to be used where no other server does better. */
  | { readonly kind: 'hearsay'; readonly reading: Reading<unknown> }
  | { readonly kind: 'referral'; readonly referral: Referral }
  /** It does not know the zone that it was named for. */
  | { readonly kind: 'lame'; readonly reading: Reading<unknown> }
  | { readonly kind: 'failure'; readonly reading: Reading<unknown> };

export interface Asked {
  /** Whose server was asked; it is believed about names in it only (bailiwick). */
  readonly zone: string;
  readonly name: string;
  readonly type: RecordType;
}

/** Servers and addresses of them that are taken from one referral. */
const MAX_HOSTS = 13;
const MAX_ADDRESSES = 4;

export function readReply(bytes: Buffer, query: Buffer, asked: Asked): Reply {
  try {
    return readSections(readAuthorityMessage(bytes, query, asked), asked);
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'failure', reading: failed('malformed', error.message) };
    throw error;
  }
}

function readSections(message: AuthorityMessage, asked: Asked): Reply {
  const { rcode, isAuthoritative } = message;
  const { zone, name, type } = asked;
  if (rcode === RCODE.refused || rcode === RCODE.notAuthoritative)
    return { kind: 'lame', reading: failed('refused', rcode === RCODE.refused ? 'REFUSED' : 'NOTAUTH') };
  if (rcode !== RCODE.noError && rcode !== RCODE.nameError)
    return { kind: 'failure', reading: readAnswer(message, name, type, zone) };
  const hasAnswer = message.answers.length > 0 || rcode === RCODE.nameError;
  const isDenied = message.authority !== null && isInZone(name, message.authority.name);
  if (!hasAnswer && !isDenied) {
    const referral = readReferral(message, asked);
    if (referral !== null) return { kind: 'referral', referral };
    // It names its own zone again, one above, or nobody: unless it says that the zone is its own, it does not know it.
    if (!isAuthoritative) return { kind: 'lame', reading: failed('servfail', 'neither an answer nor a referral') };
  }
  const reading = readAnswer(withinZone(message, asked), name, type, zone);
  if (reading.lookup.status === 'malformed') return { kind: 'failure', reading };
  return { kind: isAuthoritative ? 'answer' : 'hearsay', reading };
}

/** An SOA of elsewhere says nothing about how long this absence holds. */
function withinZone(message: AuthorityMessage, { zone }: Asked): AuthorityMessage {
  const { authority } = message;
  return authority === null || isInZone(authority.name, zone) ? message : { ...message, authority: null };
}

/** To a zone that lies below the server's own, and that the name is in; glue for it from within the server's own zone. */
function readReferral(message: AuthorityMessage, { zone, name }: Asked): Referral | null {
  const child = message.nameServers.find((each) => each.name !== zone && isInZone(each.name, zone))?.name;
  if (child === undefined || !isInZone(name, child)) return null;
  return referralTo(
    child,
    message.nameServers.filter((each) => each.name === child),
    { message, zone },
  );
}

interface Told {
  readonly message: AuthorityMessage;
  /** That of the server: it is believed about hosts in it only. */
  readonly zone: string;
}

function referralTo(child: string, records: readonly RawRecord[], { message, zone }: Told): Referral {
  const names = new Set(records.slice(0, MAX_HOSTS).map(({ start }) => readData(message.bytes, start, 'NS')));
  const hosts = [...names].map((host) => ({
    name: host,
    addresses: isInZone(host, zone) ? glueOf(message, host) : [],
  }));
  return { zone: child, hosts, ttlSeconds: Math.min(...records.map(({ ttlSeconds }) => ttlSeconds)) };
}

/** What a root server says of the root's servers (RFC 9609 §4); null for anything but an answer of its own with addresses. */
export function readRoots(bytes: Buffer, query: Buffer): Referral | null {
  try {
    const message = readAuthorityMessage(bytes, query, { name: '', type: 'NS' });
    const records = message.answers.filter(({ name, code }) => name === '' && code === TYPE_CODES.NS);
    if (message.rcode !== RCODE.noError || !message.isAuthoritative || records.length === 0) return null;
    const roots = referralTo('', records, { message, zone: '' });
    return roots.hosts.some(({ addresses }) => addresses.length > 0) ? roots : null;
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

function glueOf({ bytes, addresses }: AuthorityMessage, host: string): string[] {
  return addresses
    .filter((record) => record.name === host)
    .slice(0, MAX_ADDRESSES)
    .map(({ code, start }) => readData(bytes, start, code === TYPE_CODES.A ? 'A' : 'AAAA'));
}
