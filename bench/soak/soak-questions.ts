// What people ask of a service in a day: every kind of path, most often profiles, and some that are refused.

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** `free`: a key that was given out moments ago; `wrong`: one that never was. */
  readonly key: 'unlimited' | 'free' | 'wrong' | 'none';
  readonly expected: readonly number[];
}

/** One request in so many is each of `RARELY`; the rest are about a company. */
const RARELY_OF = 3;
/** Companies that are asked about: so few that answers about all of them are held ready before the first quarter is over. */
const POPULAR = 80;

const ASKED = (path: string): Question => ({ method: 'GET', path, key: 'unlimited', expected: [200] });
/** A company may be unscanned, not exist, or have servers that never answer. */
const ABOUT = (path: string): Question => ({ ...ASKED(path), expected: [200, 404, 503] });

const RARELY: readonly Question[] = [
  ...[
    '/stack/v1/search?q=a&limit=20',
    '/stack/v1/search?provider=cloudflare',
    '/stack/v1/search?category=email&confidence=high&state=active',
    '/stack/v1/stats',
    '/stack/v1/stats/providers',
    '/stack/v1/stats/migrations?limit=200',
    '/stack/v1/alerts?limit=100',
    '/stack/v1/anomalies?limit=100',
    '/stack/v1/intelligence/security-scorecard',
    '/stack/v1/intelligence/market-share',
    '/stack/v1/intelligence/market-share?category=dns&include_parked=true',
    '/stack/v1/intelligence/supply-chain/cloudflare',
    '/stack/v1/intelligence/adoption/google-workspace',
    '/stack/v1/enrichment/status',
    '/stack/v1/enrichment/advisories?limit=100',
    '/stack/v1/enrichment/affected?limit=100',
    '/stack/v1/feeds/stats',
    '/stack/v1/feeds/leaderboard?limit=50',
    '/stack/v1/security/export.csv',
    '/stack/v1/migrations/export.csv',
    '/stack/v1/providers/cloudflare/domains.csv',
    '/stack/v1/providers/google-workspace/customers.csv',
    '/stack/v1/providers/cloudflare',
    '/stack/v1/providers/cloudflare/customers',
    '/stack/v1/stream/json?limit=100',
  ].map(ASKED),
  ...['/health', '/openapi.json', '/', '/site.json', '/suggest?q=go'].map((path) => ({
    ...ASKED(path),
    key: 'none' as const,
    // Suggestions are limited for an address, which all who ask here share.
    expected: [200, 429],
  })),
  { method: 'GET', path: '/ledger/checkpoint', key: 'none', expected: [200, 404] },
  { method: 'POST', path: '/keys', key: 'none', expected: [201] },
  { ...ASKED('/stack/v1/domains/unknown.invalid'), expected: [400, 404] },
  { ...ASKED('/stack/v1/nowhere'), expected: [404] },
  { ...ASKED('/stack/v1/search?limit=none'), expected: [400] },
  { ...ASKED('/stack/v1/stats'), key: 'wrong', expected: [401, 429] },
];

export interface QuestionsOptions {
  /** Companies that are scanned anyway. */
  readonly followed: readonly string[];
  /** Unknown companies: a request scans them. */
  readonly unheard: readonly string[];
}

/** One question after another, without end. */
export function* questions({ followed, unheard }: QuestionsOptions): Generator<Question, never> {
  const pick = (names: readonly string[]) => names[Math.floor(Math.random() * names.length)] ?? '';
  const popular = followed.slice(0, POPULAR);
  for (let i = 0; ; i += 1) {
    if (i % RARELY_OF === 0) {
      yield RARELY[(i / RARELY_OF) % RARELY.length] as Question;
      continue;
    }
    const domain = pick(popular);
    switch (i % 9) {
      case 1:
        yield ABOUT(`/stack/v1/domains/${domain}/changes`);
        break;
      case 2:
        yield ABOUT(`/stack/v1/intelligence/risk/${domain}`);
        break;
      case 4:
        yield ABOUT(`/stack/v1/feeds/domain/${domain}`);
        break;
      case 5:
        yield { ...ABOUT(`/stack/v1/domains/${domain}`), key: 'free', expected: [200, 404, 429, 503] };
        break;
      case 7:
        yield { ...ABOUT(`/stack/v1/domains/${pick(unheard)}`), expected: [200, 404, 429, 503] };
        break;
      default:
        yield ABOUT(`/stack/v1/domains/${domain}`);
    }
  }
}
