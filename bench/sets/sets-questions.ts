// Questions to a loaded service, several for each endpoint; the first time that a question is asked is measured.

export type Questions = Readonly<Record<string, readonly string[]>>;

/** Of the top of the market, near it, in its middle and at its end. */
const PROVIDERS = ['0001', '0002', '0100', '1999'].map((id) => `provider-${id}`);

/** `names` are domains that were loaded, at least four. */
export function questionsFor(names: readonly string[]): Questions {
  const few = names.slice(0, 4);
  return {
    'domains/{domain}': few.map((name) => `domains/${name}`),
    'domains/{domain}/changes': few.map((name) => `domains/${name}/changes`),
    search: [
      'search?q=ba',
      'search?q=.com',
      'search?q=brea',
      'search?q=shoutaxi',
      'search?provider=provider-0001',
      'search?provider=provider-0003&offset=100000',
      'search?category=dns&confidence=medium',
      'search?provider=provider-0500&q=a',
      'search?provider=provider-0001&flag=dnssec&sector=media&state=active',
      'search?offset=10000&limit=1000',
    ],
    'stats/providers': ['stats/providers'],
    'stats/migrations': ['stats/migrations', 'stats/migrations?category=dns', 'stats/migrations?limit=1000'],
    alerts: ['alerts', 'alerts?limit=1000'],
    anomalies: ['anomalies', 'anomalies?limit=1000', `anomalies?domain=${few[1]}`],
    'security-scorecard': ['intelligence/security-scorecard'],
    'market-share': [
      'intelligence/market-share',
      'intelligence/market-share?category=dns',
      'intelligence/market-share?include_parked=true',
    ],
    'supply-chain': PROVIDERS.map((id) => `intelligence/supply-chain/${id}`),
    adoption: PROVIDERS.map((id) => `intelligence/adoption/${id}`),
    risk: few.map((name) => `intelligence/risk/${name}`),
    'providers/{provider}': PROVIDERS.map((id) => `providers/${id}`),
    'security/export.csv': [
      'security/export.csv',
      'security/export.csv?sector=media&score_lte=50',
      'security/export.csv?score_lte=20',
    ],
    'migrations/export.csv': [
      'migrations/export.csv',
      'migrations/export.csv?provider=provider-0001&direction=in',
      'migrations/export.csv?provider=provider-0001',
    ],
    'providers/{provider}/domains.csv': PROVIDERS.map((id) => `providers/${id}/domains.csv`),
    'stream/json': ['stream/json?since=2026-01-01T00:00:00Z'],
  };
}
