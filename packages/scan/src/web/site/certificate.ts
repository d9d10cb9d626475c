// The certificate of a TLS handshake as evidence, trusted or not.
import type { TLSSocket } from 'node:tls';
import type { TlsEvidence } from '@strata/detect';

/** Names kept of a certificate; shared ones list hundreds of unrelated names. */
const MAX_NAMES = 100;

export function noTls(status: Exclude<TlsEvidence['status'], 'found'>): TlsEvidence {
  return {
    status,
    issuer: null,
    issuerCommonName: null,
    names: [],
    validFrom: null,
    validTo: null,
    protocol: null,
    isTrusted: null,
    problem: null,
  };
}

export function readCertificate(socket: TLSSocket): TlsEvidence {
  const certificate = socket.getPeerCertificate(false);
  const issuer = certificate.issuer as Record<string, string | string[] | undefined> | undefined;
  const commonName = first(issuer?.CN);
  const authorizationError: unknown = socket.authorizationError;
  const problem =
    authorizationError instanceof Error
      ? ((authorizationError as NodeJS.ErrnoException).code ?? authorizationError.message)
      : authorizationError;
  return {
    status: 'found',
    issuer: cut(first(issuer?.O) ?? commonName),
    issuerCommonName: cut(commonName),
    names: namesOf(certificate.subjectaltname),
    validFrom: isoTime(certificate.valid_from),
    validTo: isoTime(certificate.valid_to),
    protocol: socket.getProtocol(),
    isTrusted: socket.authorized,
    problem: socket.authorized || !problem ? null : String(problem).slice(0, 100),
  };
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function cut(value: string | undefined): string | null {
  return value === undefined ? null : value.slice(0, 256);
}

/** `DNS:example.com, DNS:"od\\u0000d"`: quoted values contain characters that would break the list, and are not names. */
function namesOf(list: string | undefined): string[] {
  const names = (list ?? '').match(/(?<=(?:^|, )DNS:)[^",\s]+/g) ?? [];
  return [...new Set(names.map((name) => name.toLowerCase().slice(0, 253)))].slice(0, MAX_NAMES);
}

function isoTime(text: string | undefined): string | null {
  const time = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
