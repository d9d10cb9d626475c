// Title, description and tags of the OpenAPI document.
import type { ApiInfo } from '@strata/http';

/** Version of the interface description. */
export const API_VERSION = '1.10.2';

export const apiInfo: ApiInfo = {
  title: 'Strata Stack Intelligence',
  version: API_VERSION,
  description: [
    "Which technology providers a company's internet domain uses (hosting, email, DNS, CDN, security, verified services and more), with evidence,",
    'confidence, and the history of every change. The data is alpha: no guarantees.',
    '',
    '**Keys.** Send your API key in the header `X-Stack-Key`. `POST /keys` returns a free one (50 requests per UTC day). A 304 for a response that the service has cached is not counted.',
    '',
    '**Receipts.** Every JSON body carries `provenance`: an Ed25519 signature over the RFC 8785 form of the body without `provenance.signature` and',
    '`provenance.ledger_receipt_id`. The public keys are at `/.well-known/stack-keys.json`; every receipt is in the append-only log under',
    '`/ledger/` (C2SP tlog-tiles) before the response is sent.',
    '',
    '**Errors** are `application/problem+json` (RFC 9457) with a stable `code`. Without a valid key the body depends on the code alone, so that all',
    'clients share one receipt; request-specific values are in the headers: `X-Request-Id`, `Allow`, `Retry-After`. With a valid key it has `request_id`,',
    'a precise `detail` and `errors`.',
    '',
    '**Parameters.** An unknown parameter, and a value that names no known provider, category or sector, is refused with 400 and the nearest names; an',
    'unknown provider or domain in a path with 404.',
    '',
    '**Lists** take `limit` (at most 1,000) and `cursor`, the `next_cursor` of the previous page, which is null at the end. Rows that are added or',
    'removed between two pages neither repeat nor hide a row; a row whose own rank changes (its number of domains or mentions, its severity) may move.',
    '',
    '**Times** (`since`, `until`) are dates, RFC 3339 times with a zone, or ages: `2026-01-31`, `2026-01-31T12:00:00Z`, `7d`, `36h`. `days` counts complete',
    'UTC days including today.',
    '',
    '**Quota** is in `RateLimit` and `RateLimit-Policy`, and in `X-RateLimit-*`.',
  ].join('\n'),
  tags: [
    { name: 'Status', description: 'Health, keys, the ledger, this description' },
    { name: 'Domains', description: 'Profiles of domains and their history' },
    { name: 'Records', description: 'Observed records with their history, and who shares them' },
    { name: 'Search', description: 'Domains by name, provider or category' },
    { name: 'Segments', description: 'Saved queries' },
    { name: 'Statistics', description: 'Figures over all domains' },
    { name: 'Monitoring', description: 'Alerts and anomalies' },
    { name: 'Intelligence', description: 'Market share, concentration, adoption, risk' },
    { name: 'Enrichment', description: 'Known vulnerabilities' },
    { name: 'Feeds', description: 'Domains in the news' },
    { name: 'Exports', description: 'CSV' },
    { name: 'Providers', description: 'Providers and their domains' },
    { name: 'Watchlists', description: 'Watched domains, rules and notifications' },
    { name: 'Streams', description: 'Events as they happen' },
  ],
};
