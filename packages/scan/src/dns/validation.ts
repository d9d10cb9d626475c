// DNSSEC as a validating resolver reports it: whether the answers for a domain were validated, and with which result.
import { type DsRecord, isMeasured, type Lookup, type PolicyEvidence } from '@strata/detect';
import { hidePrivateNames } from './ask.ts';
import type { Resolver } from './resolver.ts';

/** The result of a probe's first query. */
export interface Apex {
  readonly ns: Lookup<string>;
  readonly isAuthentic: boolean;
  /** The NS query succeeded only without validation. */
  readonly isUnchecked: boolean;
}

interface Options {
  readonly signal: AbortSignal;
}

/**
 * Queries the name servers. SERVFAIL can mean invalid signatures (RFC 4035 §5.5), so the query is repeated without validation:
 * the rest of such a domain can then still be observed.
 */
export async function askApex(resolver: Resolver, domain: string, { signal }: Options): Promise<Apex> {
  const { lookup, isAuthentic } = await resolver.ask(domain, 'NS', { signal });
  if (lookup.status === 'servfail') {
    const ns = await resolver.query(domain, 'NS', { signal, isUnchecked: true });
    if (ns.status === 'found') return { ns: hidePrivateNames(ns), isAuthentic: false, isUnchecked: true };
  }
  return { ns: hidePrivateNames(lookup), isAuthentic, isUnchecked: false };
}

/**
 * The validation status of the domain. `bogus` needs a DS record, because an unsigned delegation has nothing to break, and a second
 * SERVFAIL: a server that fails intermittently usually answers the second time. `insecure` needs resolvers that all validate, and no
 * DS record. `secure` needs validating resolvers and a DS record.
 */
export async function validationOf(
  resolver: Resolver,
  domain: string,
  { apex, ds, signal }: Options & { readonly apex: Apex; readonly ds: Lookup<DsRecord> },
): Promise<PolicyEvidence['validation']> {
  const isUnsigned = isMeasured(ds.status) && ds.status !== 'found';
  if (apex.isUnchecked) {
    if (ds.status !== 'found') return 'unknown';
    const again = await resolver.query(domain, 'SOA', { signal });
    return again.status === 'servfail' ? 'bogus' : 'unknown';
  }
  // A resolver that sets AD for a zone without a DS record sets it for everything. If the DS query failed, AD cannot be
  // cross-checked.
  if (apex.isAuthentic) return ds.status === 'found' ? 'secure' : 'unknown';
  if (!isUnsigned || !isMeasured(apex.ns.status)) return 'unknown';
  return (await resolver.isValidating({ signal })) ? 'insecure' : 'unknown';
}
