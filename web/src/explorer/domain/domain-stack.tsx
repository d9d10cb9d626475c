// The services of a domain by category, each with an explanation and its evidence.
import type { Service } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { Day } from '../../ui/ago.tsx';
import { Badge, Confidence } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatCount, formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { CATEGORIES } from '../links/categories.ts';
import { CategoryLink, ProviderLink } from '../links/links.tsx';
import type { Profile } from './domain-head.tsx';

export function DomainStack({ profile, source }: { readonly profile: Profile; readonly source: ReactNode }) {
  const { services, rulebook } = profile;
  return (
    <Card title="Stack" foot={source}>
      {services.length === 0 && <Empty>No providers were detected.</Empty>}
      {CATEGORIES.map((category) => {
        const found = services.filter((service) => service.category === category);
        return found.length > 0 && <Category key={category} name={category} services={found} />;
      })}
      <Unmeasured profile={profile} />
      <p className="small soft">Rulebook version: {rulebook}.</p>
    </Card>
  );
}

function Category({ name, services }: { readonly name: string; readonly services: readonly Service[] }) {
  return (
    <section className="domain-category">
      <h3>
        <CategoryLink category={name} /> <span className="soft small">{formatNumber(services.length)}</span>
      </h3>
      <ul className="lines">
        {services.map((service) => (
          <li key={`${service.role} ${service.provider_id}`} className="domain-service">
            <ServiceEntry service={service} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ServiceEntry({ service }: { readonly service: Service }) {
  const { provider, provider_id, role, version, platform, kinds, evidence } = service;
  return (
    <>
      <div className="row">
        <ProviderLink id={provider_id} name={provider} className="strong" />
        {version && (
          <code>
            {version}
            {platform && ` (${platform})`}
          </code>
        )}
        <span className="soft small">{formatName(role)}</span>
        <Confidence level={service.confidence} />
        <Link to="/calibration" className="soft small">
          confidence
        </Link>
        {service.stale && (
          <Badge tone="warn">
            last measured <Day at={service.last_seen} />
          </Badge>
        )}
        <span className="soft small domain-since">
          since <Day at={service.first_seen} />
        </span>
      </div>
      <p className="small">{service.explanation}</p>
      <details>
        <summary>
          {formatCount(evidence.length, 'piece')} of evidence
          <span className="hidden-text"> for {provider}</span>
          {kinds.length > 0 && ` · ${kinds.map((kind) => kind.replaceAll('-', ' ')).join(', ')}`}
        </summary>
        <dl className="domain-evidence facts">
          {evidence.map(({ source, value, rule }) => (
            <Fragment key={`${source} ${rule} ${value}`}>
              <dt>
                <Badge>{source}</Badge>
              </dt>
              <dd>
                <code>{value}</code>
                <span className="soft small mono block">{rule}</span>
              </dd>
            </Fragment>
          ))}
        </dl>
      </details>
    </>
  );
}

/** Lists the roles that the last scan could not measure. */
function Unmeasured({ profile: { roles, stale_roles: stale } }: { readonly profile: Profile }) {
  const unmeasured = Object.entries(roles).filter(([, status]) => status === 'unmeasured' || status === 'blocked');
  return (
    <>
      {unmeasured.length > 0 && (
        <p className="small soft">
          Not measured in the last scan:{' '}
          {unmeasured
            .map(([role, status]) => `${formatName(role)}${status === 'blocked' ? ' (blocked)' : ''}`)
            .join(', ')}
          .
        </p>
      )}
      {stale.length > 0 && (
        <p className="small soft">
          As last measured, since the last scan could not: {stale.map(({ role }) => formatName(role)).join(', ')}.
        </p>
      )}
    </>
  );
}
