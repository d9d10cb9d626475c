// The alert list, newest first, with links to the underlying data.
import './alerts.css';
import type { Alert } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Severity } from '../../ui/badge.tsx';
import { AdvisoryLink, DomainLink, ProviderLink } from '../links/links.tsx';
import { withChanges } from '../links/search-params.ts';
import { ALL_TIME } from '../migrations/migration-filter.ts';
import { KIND_NAMES } from './labels.ts';

export function AlertList({ alerts }: { readonly alerts: readonly Alert[] }) {
  return (
    <ul className="alerts-list lines">
      {alerts.map((alert) => (
        <li key={alert.id}>
          <div className="alerts-marks">
            <Severity level={alert.severity} />
            <span className="small soft">{KIND_NAMES[alert.kind]}</span>
          </div>
          <div>
            <h3>{alert.title}</h3>
            <p className="soft">{alert.detail}</p>
            <p className="row small">
              {alert.domain !== undefined && <DomainLink domain={alert.domain} />}
              {alert.provider_id !== undefined && <ProviderLink id={alert.provider_id} name={alert.provider} />}
              <DetailLink alert={alert} />
            </p>
          </div>
          <Ago at={alert.at} className="small soft" />
        </li>
      ))}
    </ul>
  );
}

/** A link to the data behind the alert. */
function DetailLink({ alert: { id, kind, ref } }: { readonly alert: Alert }) {
  const { searchParams } = new URL(ref, location.origin);
  switch (kind) {
    case 'advisory': {
      const advisory = searchParams.get('advisory');
      return advisory !== null && <AdvisoryLink id={advisory}>Affected domains</AdvisoryLink>;
    }
    case 'migration': {
      const filter = ['provider', 'direction', 'category'].map((name) => [name, searchParams.get(name) ?? undefined]);
      // The alert may be older than every window that ends today.
      return (
        <Link to="/migrations" search={withChanges(Object.fromEntries(filter), { days: ALL_TIME })}>
          View migrations
        </Link>
      );
    }
    case 'anomaly':
      // The id of the alert is the id of the anomaly with the prefix `al_`.
      return (
        <Link to="/alerts" search={{ kind: 'anomaly', anomaly: id.replace(/^al_/, '') }}>
          View time series
        </Link>
      );
    case 'security':
      return null;
    default:
      return kind satisfies never;
  }
}
