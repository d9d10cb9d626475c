// Advisories for the products of a provider.
import { Link } from '@tanstack/react-router';
import { Badge, Severity } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import type { ProviderBody } from './use-provider.ts';

type Advisories = NonNullable<ProviderBody['advisories']>;

export function OpenAdvisories({ advisories }: { readonly advisories: Advisories }) {
  const { version, product, known_exploited, top } = advisories;
  return (
    <>
      <Figures>
        <Figure name="Affecting observed versions">{formatNumber(version)}</Figure>
        <Figure name="Possibly affecting" note="version unknown">
          {formatNumber(product)}
        </Figure>
        <Figure name="Known exploited">{formatNumber(known_exploited)}</Figure>
      </Figures>
      <ul className="provider-advisories">
        {top.map(({ id, severity, title, known_exploited: isExploited }) => (
          <li key={id}>
            <Link to="/advisories" search={{ advisory: id }}>
              {id}
            </Link>{' '}
            {severity && <Severity level={severity} />} {isExploited && <Badge tone="bad">exploited</Badge>}{' '}
            <span className="soft">{title}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
