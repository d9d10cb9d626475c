// A short version of a domain's stack; the domain page has the evidence.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Grade } from '../../ui/badge.tsx';
import { formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';

type Profile = StackPaths['/stack/v1/feeds/domain/{domain}']['body'];

export function ScannedStack({ domain, scanned }: Pick<Profile, 'domain' | 'scanned'>) {
  if (!scanned) {
    return (
      <Empty>
        Not scanned yet.{' '}
        <Link to="/domain/$domain" params={{ domain }}>
          Scan it now
        </Link>
      </Empty>
    );
  }
  const { services, state, scanned_at, grade, score } = scanned;
  const byCategory = Map.groupBy(services, ({ category }) => category);
  return (
    <>
      <p className="small soft feeds-scan">
        {state === 'active' ? 'Active' : formatName(state)} · scanned {formatTime(scanned_at)} · security{' '}
        <Grade grade={grade} /> {score !== null && `${formatNumber(score)} of 100`}
      </p>
      {services.length === 0 && <Empty>No providers were detected.</Empty>}
      <dl className="feeds-stack">
        {[...byCategory].map(([category, found]) => (
          <div key={category}>
            <dt>{formatName(category)}</dt>
            <dd>
              {found.map(({ provider, provider_id }, i) => (
                <span key={provider_id}>
                  {i > 0 && ', '}
                  <Link to="/provider/$provider" params={{ provider: provider_id }}>
                    {provider}
                  </Link>
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
