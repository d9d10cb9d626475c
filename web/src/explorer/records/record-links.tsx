// Kinds of records, and links from a value to the domains that share it.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export type Kind = StackPaths['/stack/v1/pivot/{kind}/{value}']['path']['kind'];

export const KINDS: readonly (readonly [Kind, string])[] = [
  ['ns', 'Name server'],
  ['ns_set', 'Set of name servers'],
  ['soa', 'Zone contact'],
  ['mx', 'MX'],
  ['address', 'Address'],
  ['network', 'Network'],
  ['asn', 'ASN'],
  ['cname', 'CNAME target'],
  ['txt', 'TXT'],
  ['verification', 'Verification token'],
  ['spf', 'SPF include'],
  ['dmarc', 'DMARC'],
  ['caa', 'CAA'],
  ['certificate_name', 'Certificate name'],
  ['certificate_issuer', 'Certificate issuer'],
  ['tag', 'Tag or analytics id'],
  ['favicon', 'Favicon hash'],
  ['redirect', 'Redirect target'],
];

export const nameOfKind = (kind: string): string => KINDS.find(([each]) => each === kind)?.[1] ?? kind;

interface PivotLinkProps {
  readonly kind: string;
  readonly value: string;
  readonly children?: ReactNode;
}

export function PivotLink({ kind, value, children = value }: PivotLinkProps) {
  return (
    <Link to="/pivot" search={{ kind, value }} className="mono record-value" preload={false}>
      {children}
    </Link>
  );
}
