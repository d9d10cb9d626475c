// A service that answers from the receipt vectors: a fetch function over a table of paths.
import { readFileSync } from 'node:fs';

export const BASE_URL = 'https://strata.test';

export const vector = (name: string): string =>
  readFileSync(new URL(`../../../../vectors/receipts/${name}`, import.meta.url), 'utf8');

interface Page {
  readonly body: string;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

type Receipt = { readonly ledger_receipt_id: string };
type Detached = { content: string; content_type: string; provenance: Receipt; ledger_receipt: unknown };
export const detached: Readonly<Detached> = JSON.parse(vector('detached.json'));
const { ledger_receipt_id: ledgerId }: Receipt = JSON.parse(vector('ledger-receipt.json'));

export const PATHS = {
  answer: '/stack/v1/domains/example.com',
  csv: '/stack/v1/security/export.csv',
  keySet: '/.well-known/stack-keys.json',
  ledgerReceipt: `/ledger/receipts/${ledgerId}`,
} as const;

/** The pages of the good service. */
export const GOOD_PAGES: Readonly<Record<string, Page>> = {
  [PATHS.answer]: { body: vector('answer.json') },
  [PATHS.csv]: {
    body: detached.content,
    headers: { 'content-type': detached.content_type, 'stack-provenance': JSON.stringify(detached.provenance) },
  },
  [PATHS.keySet]: { body: vector('key-set.json') },
  [PATHS.ledgerReceipt]: { body: vector('ledger-receipt.json') },
  [`/ledger/receipts/${detached.provenance.ledger_receipt_id}`]: { body: JSON.stringify(detached.ledger_receipt) },
};

/** The good service with some pages replaced. */
export function serviceOf(changed: Readonly<Record<string, Page>> = {}) {
  const pages = { ...GOOD_PAGES, ...changed };
  const requests: Request[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(request);
    request.signal.throwIfAborted();
    const page = new URL(request.url).origin === BASE_URL ? pages[new URL(request.url).pathname] : undefined;
    if (!page) return new Response('{}', { status: 404 });
    return new Response(page.body, { status: page.status ?? 200, headers: page.headers ?? {} });
  };
  return { fetch, requests };
}
