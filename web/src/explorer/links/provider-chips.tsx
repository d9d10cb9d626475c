// The providers of a domain by category, as links.
import { Fragment } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { formatName } from '../../ui/formats.ts';
import { ProviderLink } from './links.tsx';

interface Found {
  readonly category: string;
  readonly provider: string;
  readonly provider_id: string;
}

export function ProviderChips({ services }: { readonly services: readonly Found[] }) {
  return (
    <dl className="facts">
      {[...Map.groupBy(services, ({ category }) => category)].map(([category, found]) => (
        <Fragment key={category}>
          <dt>{formatName(category)}</dt>
          <dd className="chips">
            {/* A provider may have several roles in a category. */}
            {[...new Map(found.map(({ provider_id: id, provider }) => [id, provider]))].map(([id, provider]) => (
              <ProviderLink key={id} id={id}>
                <Badge>{provider}</Badge>
              </ProviderLink>
            ))}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
