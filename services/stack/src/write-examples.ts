// Rewrites the examples of the OpenAPI description from a running service: `npm run demo`, then
// `STRATA_KEY=… node services/stack/src/write-examples.ts http://127.0.0.1:8787`.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const [base = 'http://127.0.0.1:8787'] = process.argv.slice(2);
const headers = { 'x-stack-key': process.env.STRATA_KEY ?? '' };

/** Rows per list in an example. */
const ROWS = 2;
/** Domains whose records are tried for an example. */
const MAX_TRIED = 50;

async function request(path: string, init: RequestInit = { headers }): Promise<Response> {
  const response = await fetch(base + path, init);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

const { results } = (await (await request('/stack/v1/search?provider=cloudflare&limit=100')).json()) as {
  results: { domain: string }[];
};
const { migrations } = (await (await request('/stack/v1/stats/migrations?limit=1')).json()) as {
  migrations: { domain: string }[];
};
const domain = results[0]?.domain ?? '';
const { domains } = (await (await request('/stack/v1/feeds/leaderboard?limit=100')).json()) as {
  domains: { domain: string; score: number | null }[];
};
const moved = migrations[0]?.domain ?? domain;

/** A domain that shares a tag with other domains, and the tag. */
let related = domain;
let shared: { kind: string; value: string } | undefined;
for (const each of results.slice(0, MAX_TRIED)) {
  const { records } = (await (await request(`/stack/v1/domains/${each.domain}/records`)).json()) as {
    records: { kind: string; value: string; other_domains: number; shared: boolean }[];
  };
  shared = records.find((record) => record.kind === 'tag' && record.other_domains > 0 && !record.shared);
  if (!shared) continue;
  related = each.domain;
  break;
}

/** A domain in feeds, preferably a scanned one. */
const named = (domains.find(({ score }) => score !== null) ?? domains[0])?.domain ?? domain;

/** Requests by path of the description. */
const requests: Readonly<Record<string, string>> = {
  '/stack/v1/usage': '/stack/v1/usage?days=1',
  '/stack/v1/domains/{domain}': `/stack/v1/domains/${domain}`,
  '/stack/v1/domains/{domain}/changes': `/stack/v1/domains/${moved}/changes`,
  '/stack/v1/domains/{domain}/records': `/stack/v1/domains/${related}/records`,
  '/stack/v1/domains/{domain}/history': `/stack/v1/domains/${moved}/history?limit=2`,
  '/stack/v1/pivot/{kind}/{value}': `/stack/v1/pivot/${shared?.kind}/${encodeURIComponent(shared?.value ?? '')}?limit=2`,
  '/stack/v1/search': '/stack/v1/search?provider=cloudflare&limit=2',
  '/stack/v1/stats': '/stack/v1/stats',
  '/stack/v1/stats/providers': '/stack/v1/stats/providers',
  '/stack/v1/stats/migrations': '/stack/v1/stats/migrations?limit=2',
  '/stack/v1/alerts': '/stack/v1/alerts?limit=2',
  '/stack/v1/anomalies': '/stack/v1/anomalies?limit=2',
  '/stack/v1/intelligence/security-scorecard': '/stack/v1/intelligence/security-scorecard',
  '/stack/v1/intelligence/market-share': '/stack/v1/intelligence/market-share?category=dns',
  '/stack/v1/intelligence/supply-chain/{provider}': '/stack/v1/intelligence/supply-chain/cloudflare',
  '/stack/v1/intelligence/adoption/{tool}': '/stack/v1/intelligence/adoption/google-workspace',
  '/stack/v1/intelligence/risk/{domain}': `/stack/v1/intelligence/risk/${domain}`,
  '/stack/v1/enrichment/status': '/stack/v1/enrichment/status',
  '/stack/v1/enrichment/advisories': '/stack/v1/enrichment/advisories?severity=critical&limit=2',
  '/stack/v1/enrichment/affected': '/stack/v1/enrichment/affected?match=version&limit=2',
  '/stack/v1/feeds/stats': '/stack/v1/feeds/stats',
  '/stack/v1/feeds/leaderboard': '/stack/v1/feeds/leaderboard?limit=2',
  '/stack/v1/feeds/domain/{domain}': `/stack/v1/feeds/domain/${named}`,
  '/stack/v1/providers/{provider}': '/stack/v1/providers/cloudflare?limit=2',
  '/stack/v1/providers/{provider}/customers': '/stack/v1/providers/cloudflare/customers?limit=2',
  '/stack/v1/stream/json': '/stack/v1/stream/json?types=migration&limit=1',
  '/stack/v1/security/export.csv': '/stack/v1/security/export.csv',
  '/stack/v1/migrations/export.csv': '/stack/v1/migrations/export.csv',
  '/stack/v1/providers/{provider}/domains.csv': '/stack/v1/providers/cloudflare/domains.csv',
  '/stack/v1/providers/{provider}/customers.csv': '/stack/v1/providers/cloudflare/customers.csv',
};

const bodies: Readonly<Record<string, object>> = {
  '/stack/v1/domains:lookup': { domains: [domain, 'never-scanned.com'] },
  '/stack/v1/query': {
    query: 'provider:cloudflare AND NOT dmarc:reject AND score:>=40',
    sort: '-score',
    facets: ['email', 'tld'],
    limit: 2,
  },
};

const JSON_TYPE = { 'content-type': 'application/json' };
const examples: Record<string, unknown> = { ...(await watchlistExamples()), ...(await segmentExamples()) };
for (const [path, body] of Object.entries(bodies)) {
  const response = await request(path, {
    method: 'POST',
    headers: { ...headers, ...JSON_TYPE },
    body: JSON.stringify(body),
  });
  examples[path] = shortened(await response.json());
}

const upload = { method: 'POST', headers: { ...headers, 'content-type': 'text/csv' }, body: `domain\n${domain}\n` };
const started = await request('/stack/v1/lookups?format=parquet', upload);
const { job } = (await started.clone().json()) as { job: { id: string } };
examples['/stack/v1/lookups'] = await started.json();
examples['/stack/v1/jobs/{id}'] = await (await request(`/stack/v1/jobs/${job.id}?wait=20`)).json();
examples['/stack/v1/jobs'] = shortened(await (await request('/stack/v1/jobs')).json());
for (const table of ['domains', 'services', 'records', 'history', 'scorecard']) {
  const path = `/stack/v1/exports/${table}`;
  const answer = await request(`${path}?format=parquet`, { method: 'POST', headers });
  const created = await answer.json();
  examples[`POST ${path}`] = created;
  const { job } = created as { job: { id: string } };
  await request(`/stack/v1/jobs/${job.id}?wait=20`);
}
for (const [path, requestPath] of Object.entries(requests)) {
  const response = await request(requestPath);
  examples[path] = path.endsWith('.csv')
    ? (await response.text())
        .split('\r\n')
        .slice(0, ROWS + 1)
        .join('\r\n')
    : shortened(await response.json());
}
const file = fileURLToPath(import.meta.resolve('./routes/examples.json'));
await writeFile(file, `${JSON.stringify(examples, null, 2)}\n`);
// `npm run check` compares the format.
execFileSync(process.execPath, [
  fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome')),
  'format',
  '--write',
  file,
]);

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ROWS).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
}

async function send(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const init = { method, headers: { ...headers, ...(body !== undefined && JSON_TYPE) }, ...json };
  return (await (await request(path, init)).json()) as Record<string, unknown>;
}

/** A segment, and its comparison with another query. */
async function segmentExamples(): Promise<Record<string, unknown>> {
  const [at, one] = ['/stack/v1/segments/{name}', '/stack/v1/segments/german'];
  const compared = '/stack/v1/intelligence/comparison';
  const found = {
    [`PUT ${at}`]: await send('PUT', one, { query: 'tld:de state:active' }),
    [at]: await send('GET', one),
    '/stack/v1/segments': await send('GET', '/stack/v1/segments'),
    [compared]: await send('GET', `${compared}?a=segment:german&b=tld:com&category=email&limit=2`),
    [`DELETE ${at}`]: await send('DELETE', one),
  };
  return Object.fromEntries(Object.entries(found).map(([path, body]) => [path, shortened(body)]));
}

/** A list of all domains, after the first notification. */
async function watchlistExamples(): Promise<Record<string, unknown>> {
  const LISTS = '/stack/v1/watchlists';
  const { results } = await send('GET', '/stack/v1/search?limit=1000');
  const content = {
    name: 'Customers',
    domains: (results as { domain: string }[]).map(({ domain }) => domain),
    rules: [{ kind: 'gained_provider' }, { kind: 'posture_fell', points: 5 }],
    channels: [
      { kind: 'webhook', url: 'https://hooks.example.com/strata', quiet_hours: { from: '22:00', to: '07:00' } },
    ],
  };
  const created = await send('POST', LISTS, content);
  const list = `${LISTS}/${(created.watchlist as { id: string }).id}`;
  const at = `${LISTS}/{id}`;
  let news: Record<string, unknown>;
  do {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    news = await send('GET', `${list}/notifications`);
  } while ((news.notifications as unknown[]).length === 0);
  const sent = await send('POST', `${list}:test`);
  const [{ id = '' } = {}] = sent.deliveries as { id?: string }[];
  const found = {
    [`POST ${LISTS}`]: created,
    [LISTS]: await send('GET', LISTS),
    [at]: await send('GET', list),
    [`PUT ${at}`]: await send('PUT', list, content),
    [`${at}:test`]: sent,
    [`${at}/notifications`]: news,
    [`${at}/deliveries`]: await send('GET', `${list}/deliveries`),
    [`${at}/deliveries/{delivery}:replay`]: await send('POST', `${list}/deliveries/${id}:replay`),
    [`DELETE ${at}`]: await send('DELETE', list),
  };
  return Object.fromEntries(Object.entries(found).map(([path, body]) => [path, shortened(body)]));
}
