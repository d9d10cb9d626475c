// DNSSEC as a validating resolver sees it: whether the answers about a domain were checked, and what the check said.
import { type DsRecord, isMeasured, type Lookup, type PolicyEvidence } from '@strata/detect';
import { publicly } from './ask.ts';
import type { Resolver } from './resolver.ts';

/** What the first question of a probe found. */
export interface Apex {
  readonly ns: Lookup<string>;
  readonly isAuthentic: boolean;
  /** The name servers were only told when asked without a check of signatures. */
  readonly isUnchecked: boolean;
}

interface Options {
  readonly signal: AbortSignal;
}

/**
 * Asks for the name servers. Where that ends in SERVFAIL, which is also what a resolver says of signatures that do not
 * hold (RFC 4035 §5.5), it asks again without the check, so that the rest of such a domain can still be seen.
 */
export async function askApex(resolver: Resolver, domain: string, { signal }: Options): Promise<Apex> {
  const { lookup, isAuthentic } = await resolver.ask(domain, 'NS', { signal });
  if (lookup.status === 'servfail') {
    const ns = await resolver.query(domain, 'NS', { signal, isUnchecked: true });
    if (ns.status === 'found') return { ns: publicly(ns), isAuthentic: false, isUnchecked: true };
  }
  return { ns: publicly(lookup), isAuthentic, isUnchecked: false };
}

/**
 * What the check of signatures says of the domain. `bogus` needs a DS record, since a zone that nobody vouches for has
 * nothing to break, and a second refusal: a server that fails now and then is refused once and answers the next time.
 * `insecure` needs resolvers that all check, and no DS record. `secure` needs one too.
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
  // A resolver that vouches for a zone which its parent does not sign vouches for anything; and where the parent was
  // not heard, its word is all there is.
  if (apex.isAuthentic) return ds.status === 'found' ? 'secure' : 'unknown';
  if (!isUnsigned || !isMeasured(apex.ns.status)) return 'unknown';
  return (await resolver.isValidating({ signal })) ? 'insecure' : 'unknown';
}
