// What a domain runs, category by category, each claim with the sentence that bears it and the evidence on demand.
import type { Service } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge, Confidence } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/card/card.tsx';
import { formatDay, formatName, formatNumber } from '../../../ui/formats.ts';
import { Empty } from '../../../ui/states.tsx';
import { Source } from '../../answer/source.tsx';
import { CATEGORIES, type Profile, type ProfileAnswer } from '../profile.ts';

export function DomainStack({ host, answer }: { readonly host: string; readonly answer: ProfileAnswer }) {
  const { services, roles, rulebook } = answer.body;
  return (
    <Card
      title="Stack"
      foot={<Source path="/stack/v1/domains/{domain}" input={{ path: { domain: host } }} answer={answer} />}
    >
      {services.length === 0 && <Empty>No provider was recognised.</Empty>}
      {CATEGORIES.map((category) => {
        const found = services.filter((service) => service.category === category);
        return found.length > 0 && <Category key={category} name={category} services={found} />;
      })}
      <Unmeasured roles={roles} />
      <p className="small soft">Read with the rules of version {rulebook}.</p>
    </Card>
  );
}

function Category({ name, services }: { readonly name: string; readonly services: readonly Service[] }) {
  return (
    <section className="domain-category">
      <h3>
        <Link to="/market" search={{ category: name }}>
          {formatName(name)}
        </Link>{' '}
        <span className="soft small">{formatNumber(services.length)}</span>
      </h3>
      <ul>
        {services.map((service) => (
          <li key={`${service.role} ${service.provider_id}`} className="domain-service">
            <Claim service={service} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Claim({ service }: { readonly service: Service }) {
  const { provider, provider_id, version, platform, kinds, evidence } = service;
  return (
    <>
      <div className="domain-service-head">
        <Link to="/provider/$provider" params={{ provider: provider_id }} className="domain-provider">
          {provider}
        </Link>
        {version && (
          <code>
            {version}
            {platform && ` (${platform})`}
          </code>
        )}
        <Confidence level={service.confidence} />
        <span className="soft small">confidence</span>
        <span className="soft small domain-since">
          since <time dateTime={service.first_seen}>{formatDay(service.first_seen)}</time>
        </span>
      </div>
      <p className="small">{service.explanation}</p>
      <details>
        <summary>
          {formatNumber(evidence.length)} {evidence.length === 1 ? 'piece' : 'pieces'} of evidence
          <span className="hidden-text"> for {provider}</span>
          {kinds.length > 0 && ` · ${kinds.map((kind) => kind.replaceAll('-', ' ')).join(', ')}`}
        </summary>
        <dl className="domain-evidence">
          {evidence.map(({ source, value, rule }) => (
            <div key={`${source} ${rule} ${value}`}>
              <dt>
                <Badge>{source}</Badge>
              </dt>
              <dd>
                <code>{value}</code>
                <span className="soft small mono">{rule}</span>
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}

/** Says where nothing is claimed because nothing could be looked up. */
function Unmeasured({ roles }: { readonly roles: Profile['roles'] }) {
  const open = Object.entries(roles).filter(([, status]) => status === 'unmeasured' || status === 'blocked');
  if (open.length === 0) return null;
  return (
    <p className="small soft">
      Not measured by the last look:{' '}
      {open.map(([role, status]) => `${role}${status === 'blocked' ? ' (kept out)' : ''}`).join(', ')}.
    </p>
  );
}
